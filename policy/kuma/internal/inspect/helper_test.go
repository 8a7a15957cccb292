package inspect

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

// load reads a folder of testdata.
func load(t testing.TB, folder string) *Resources {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	var docs []manifest.Document
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read, err := manifest.Parse(file, data)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, read...)
	}
	r, err := Parse(docs, permission.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parse(t testing.TB, yaml string, opts permission.Options) *Resources {
	t.Helper()
	docs, err := manifest.Parse("mesh.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse(docs, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func get(t testing.TB, r *Resources, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

const httpPort = "/meshes/default/dataplanes/backend/_inbounds/kri_dp_default___backend_http-port/_policies"

func unmarshal(t testing.TB, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
