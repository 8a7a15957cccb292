package compilation_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/compilation"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/lab"
)

// Each sidecar of a folder is compiled: the routes and the filter of an outbound, and the clusters
// of its backends.
func TestSidecars(t *testing.T) {
	t.Parallel()
	files, err := lab.Open(lab.Choice{}, "../explanation/testdata/routed")
	if err != nil {
		t.Fatal(err)
	}
	files.TakeRouting()
	for to, name := range map[string]string{"": "sidecars", "MeshService/store:5432": "tcp"} {
		all, err := compilation.Compile(files, lab.Surroundings{}, to, nil)
		if err != nil || len(all.Sidecars) != 2 {
			t.Fatalf("%d sidecars, %v", len(all.Sidecars), err)
		}
		all.Sidecars = all.Sidecars[:1]
		var text strings.Builder
		all.WriteText(&text, false)
		golden.Compare(t, name+".yaml", text.String())
		text.Reset()
		all.WritePrograms(&text)
		golden.Compare(t, name+".program", text.String())
		raw, err := all.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, name+".json", golden.JSON(t, raw))
	}
	if all, err := compilation.Compile(files, lab.Surroundings{}, "store-1/5432", nil); err != nil || all.Sidecars != nil {
		t.Errorf("an inbound is chosen: %v, %v", all, err)
	}
	if _, err := compilation.Compile(files, lab.Surroundings{}, "MeshService/other:80", nil); err == nil {
		t.Error("no sidecar has the outbound")
	}
}
