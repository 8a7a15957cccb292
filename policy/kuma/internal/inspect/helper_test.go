package inspect

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

// load reads a folder of testdata.
func load(t testing.TB, folder string) *Resources {
	t.Helper()
	r, err := Load("testdata/"+folder, permission.Options{})
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
