package sidecar

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func folder(files map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestFolder(t *testing.T) {
	t.Parallel()
	network := `{"@type": "type.googleapis.com/` + networkRBAC + `", ` + denyAll + `}`
	http := `{"@type": "type.googleapis.com/` + httpRBAC + `", ` + permitAll + `}`
	s, err := Folder(folder(map[string]string{
		"1-filters.json":  "[" + network + "," + http + "]",
		"2-compiled.json": `[{"inbound": "backend/tcp", "protocol": "tcp", "filters": [` + network + `]}, {"inbound": "backend/grpc", "protocol": "grpc", "filters": [` + http + `, {"@type": "type.googleapis.com/` + routeRBAC + `"}]}, {"inbound": "open", "protocol": "http3", "filters": []}]`,
		"3-listener.json": serving(manager(rds, l7(denyAll))),
		"4-route.json":    typed("envoy.config.route.v3.RouteConfiguration", routes("r", "*", routeTo("/admin", ", "+perRoute("")))),
		"5-one.json":      http,
		"deep/dump.json":  whole(strings.Replace(serving(), `"name": "in"`, `"name": "deep"`, 1)),
		"notes.txt":       "not read",
	}))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "folder.golden", describe(t, s))
}

func TestFolderRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":     {nil, "it has no file *.json: file does not exist"},
		"a file":      {map[string]string{"a/b.json": "{}"}, "a/b.json: it is neither a configuration dump"},
		"broken JSON": {map[string]string{"x.json": "{"}, "x.json: no JSON: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Folder(folder(tt.files)); err == nil || !strings.HasPrefix(err.Error(), "sidecar: read folder: "+tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	if _, err := Folder(folder(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want one that wraps %v", err, fs.ErrNotExist)
	}
}

func TestFolderOfOneFileIsDump(t *testing.T) {
	t.Parallel()
	s, err := Folder(folder(map[string]string{"kuma.json": string(testdata(t, "kuma.json"))}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(describe(t, dump(t, testdata(t, "kuma.json"))), describe(t, s)); diff != "" {
		t.Errorf("(-dump +folder):\n%s", diff)
	}
}
