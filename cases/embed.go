package cases

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed gateway/*.yaml kuma/*.yaml
var embedded embed.FS

// Stories returns the built-in cases, in the order of their files: the user stories of
// each dialect, and traps. A place is "cases/kuma/mesh-operator-1.yaml:1", a path from
// the root of the module. An error is a defect of the build.
func Stories() ([]Case, error) {
	const folder = "cases"
	files, err := fs.Glob(embedded, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	for i := range files {
		files[i] = path.Join(folder, files[i])
	}
	return read(files, func(name string) ([]byte, error) { return embedded.ReadFile(name[len(folder)+1:]) })
}
