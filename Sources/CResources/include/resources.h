// What the compiler puts into the program: files of the page, the lesson of the demo, and the commit of a packaged build.
#pragma once
#include <stddef.h>

struct resource_file {
    // As in Sources/RelayPage, with the folder ("client/links.js"), or in Sources/boardrelay/Demo.
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// Returns how many files there are.
size_t resource_files_count(void);

/// Returns one of them: indices begin at 0.
const struct resource_file *resource_file_at(size_t index);

/// Returns the file's bytes, which live as long as the program, or NULL for a name that is not there.
const struct resource_file *resource_file_named(const char *name);

/// Returns the commit that a packaged build was made from, or NULL in a plain build. The build passes it as
/// -Xcc -DBOARDRELAY_COMMIT=…
const char *resource_commit(void);
