package casefile

import "io/fs"

// Embedded are the files of the built-in cases, each in the folder of its subject. Package cases sets it when the program
// starts. It is for those who need only some of the files: reading all of them takes a third of a second.
var Embedded fs.FS
