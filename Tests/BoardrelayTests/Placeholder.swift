// BoardrelayTests
