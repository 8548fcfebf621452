// DocsTests
