package lab

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/podtemplate"
)

// Choose is [Choose] for cases of the files. The error names the flags that describe a workload of the name, see [NoInboundError].
func (f *Files) Choose(all []Case, to string) ([]Case, error) {
	out, err := Choose(all, to)
	if none := (*NoInboundError)(nil); errors.As(err, &none) {
		none.Described = f.describedBy(to)
	}
	return out, err
}

// describedBy says which flags describe the workload of that name among the documents of other kinds, such as a Deployment, and "" where there
// is none, or more than one. Nothing is asked of it by its name: what a mesh adds to the labels of its pods, and which sidecar they get, is not written there.
func (f *Files) describedBy(to string) string {
	name, port, _ := strings.Cut(to, "/")
	named := slices.DeleteFunc(podtemplate.Templates(f.Others), func(t podtemplate.Template) bool { return t.Name != name })
	if len(named) != 1 {
		return ""
	}
	t := named[0]
	flags := []string{"--namespace " + t.Namespace}
	for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
		flags = append(flags, fmt.Sprintf("--label %s=%s", key, t.Labels[key]))
	}
	if number, known := t.Port(port); known {
		flags = append(flags, fmt.Sprintf("--port %d", number))
	}
	return fmt.Sprintf("%s is read for warnings only: leave out --to, and describe it by %s", t.Object, strings.Join(flags, " "))
}
