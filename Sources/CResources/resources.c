#include "resources.h"
#include <string.h>

// C23's #embed costs the compiler nothing; an array literal of Swift of the same bytes costs it a minute.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char app_js[] = {
#embed "../RelayPage/app.js"
};
static const unsigned char board_css[] = {
#embed "../RelayPage/board.css"
};
static const unsigned char canvas_js[] = {
#embed "../RelayPage/canvas.js"
};
static const unsigned char format_js[] = {
#embed "../RelayPage/format.js"
};
static const unsigned char identity_js[] = {
#embed "../RelayPage/identity.js"
};
static const unsigned char index_html[] = {
#embed "../RelayPage/index.html"
};
static const unsigned char ink_js[] = {
#embed "../RelayPage/ink.js"
};
static const unsigned char lesson_ndjson[] = {
#embed "../boardrelay/Demo/lesson.ndjson"
};
static const unsigned char live_js[] = {
#embed "../RelayPage/live.js"
};
static const unsigned char names_js[] = {
#embed "../RelayPage/names.js"
};
static const unsigned char qr_js[] = {
#embed "../RelayPage/qr.js"
};
static const unsigned char records_js[] = {
#embed "../RelayPage/records.js"
};
static const unsigned char relay_client_js[] = {
#embed "../RelayPage/relay-client.js"
};
static const unsigned char session_js[] = {
#embed "../RelayPage/session.js"
};
static const unsigned char status_numbers_js[] = {
#embed "../RelayPage/status-numbers.js"
};
static const unsigned char status_css[] = {
#embed "../RelayPage/status.css"
};
static const unsigned char status_html[] = {
#embed "../RelayPage/status.html"
};
static const unsigned char status_js[] = {
#embed "../RelayPage/status.js"
};
static const unsigned char svg_js[] = {
#embed "../RelayPage/svg.js"
};
static const unsigned char tools_js[] = {
#embed "../RelayPage/tools.js"
};
static const unsigned char ui_js[] = {
#embed "../RelayPage/ui.js"
};
static const unsigned char undo_js[] = {
#embed "../RelayPage/undo.js"
};
static const unsigned char words_js[] = {
#embed "../RelayPage/words.js"
};
static const unsigned char writing_js[] = {
#embed "../RelayPage/writing.js"
};

#define FILE_NAMED(name, bytes) {name, bytes, sizeof bytes}

static const struct resource_file files[] = {
    FILE_NAMED("app.js", app_js),
    FILE_NAMED("board.css", board_css),
    FILE_NAMED("canvas.js", canvas_js),
    FILE_NAMED("format.js", format_js),
    FILE_NAMED("identity.js", identity_js),
    FILE_NAMED("index.html", index_html),
    FILE_NAMED("ink.js", ink_js),
    FILE_NAMED("lesson.ndjson", lesson_ndjson),
    FILE_NAMED("live.js", live_js),
    FILE_NAMED("names.js", names_js),
    FILE_NAMED("qr.js", qr_js),
    FILE_NAMED("records.js", records_js),
    FILE_NAMED("relay-client.js", relay_client_js),
    FILE_NAMED("session.js", session_js),
    FILE_NAMED("status-numbers.js", status_numbers_js),
    FILE_NAMED("status.css", status_css),
    FILE_NAMED("status.html", status_html),
    FILE_NAMED("status.js", status_js),
    FILE_NAMED("svg.js", svg_js),
    FILE_NAMED("tools.js", tools_js),
    FILE_NAMED("ui.js", ui_js),
    FILE_NAMED("undo.js", undo_js),
    FILE_NAMED("words.js", words_js),
    FILE_NAMED("writing.js", writing_js),
};

const struct resource_file *resource_file_named(const char *name) {
    for (size_t index = 0; index < sizeof files / sizeof files[0]; index += 1) {
        if (strcmp(files[index].name, name) == 0) return &files[index];
    }
    return NULL;
}

#define QUOTED(text) #text
#define TEXT(macro) QUOTED(macro)

const char *resource_commit(void) {
#ifdef BOARDRELAY_COMMIT
    return TEXT(BOARDRELAY_COMMIT);
#else
    return NULL;
#endif
}
