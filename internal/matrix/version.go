package matrix

import (
	"cmp"
	"runtime/debug"

	"github.com/meshproof/meshproof/internal/report"
)

const module = "github.com/meshproof/meshproof"

// Version returns the version of meshproof in this binary, as the Go command recorded
// it, "(devel)" where it recorded none.
func Version() string {
	const unknown = "(devel)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	if info.Main.Path == module {
		return cmp.Or(info.Main.Version, unknown)
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return cmp.Or(dep.Version, unknown)
		}
	}
	return unknown
}

// Reference is the implementation that meshproof's own compiler is of.
func Reference() report.Implementation {
	return report.Implementation{
		Organization: "meshproof", Project: "meshproof", URL: "https://" + module, Version: Version(),
		Contact: []string{"https://" + module + "/issues"},
	}
}
