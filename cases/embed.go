package cases

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed kuma/*.yaml
var embedded embed.FS

// folder is where the embedded files stand in the repository; places name them
// from there.
const folder = "cases"

// BuiltIn returns the names of the embedded case files, from the root of the
// repository, in order.
func BuiltIn() []string {
	files, err := fs.Glob(embedded, "kuma/*.yaml")
	if err != nil {
		// The pattern is a constant; only a malformed one is an error.
		panic(err)
	}
	for i, file := range files {
		files[i] = path.Join(folder, file)
	}
	return files
}

// Stories returns the built-in cases: those of the user stories, and the traps
// around them.
func Stories() ([]Case, error) {
	return read(BuiltIn(), func(file string) ([]byte, error) {
		return embedded.ReadFile(strings.TrimPrefix(file, folder+"/"))
	})
}
