package verify

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// TestLackingParts takes parts out of a whole dump: each of them may hold another way in.
func TestLackingParts(t *testing.T) {
	t.Parallel()
	files, err := lab.Open(lab.Choice{}, "../../examples/sidecar/policies")
	if err != nil {
		t.Fatal(err)
	}
	all, err := files.CasesFor(lab.Surroundings{}, files.Inbounds())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"the whole dump":       {verified, nil},
		"no clusters":          {unverified, []edit{drop("configs.1")}},
		"no bootstrap":         {unverified, []edit{drop("configs.2")}},
		"no secrets":           {unverified, []edit{drop("configs.3")}},
		"no secret of the CAs": {unverified, []edit{put("configs.3.dynamic_active_secrets", `[]`)}},
		"a secret of that name with something else": {unverified, []edit{drop(bundled), put("configs.3.dynamic_active_secrets.0.secret.tls_certificate", `{}`)}},
		"a secret that warms":                       {unverified, []edit{drop(bundled), put("configs.3.dynamic_active_secrets.0.secret.name", `"system_trust_bundle"`)}},
		"CAs of a file":                             {unverified, []edit{put(bundled+".trusted_ca", `{"filename": "/etc/ssl/certs/ca-certificates.crt"}`)}},
		"CAs of a variable":                         {unverified, []edit{put(bundled+".trusted_ca", `{"environment_variable": "X"}`)}},
		"CAs without text":                          {unverified, []edit{put(bundled+".trusted_ca", `{"inline_string": ""}`)}},
		"no CAs":                                    {unverified, []edit{put(bundled, `{}`)}},
		"CAs of a trust domain without text":        {unverified, []edit{put(bundled, spiffe(`{"name": "default.zone-1.mesh.local", "trust_bundle": {}}`))}},
		"CAs of a trust domain":                     {verified, []edit{put(bundled, spiffe(`{"name": "default.zone-1.mesh.local", "trust_bundle": {"inline_bytes": "eA=="}}`))}},
		"two trust domains, and one list of CAs":    {unverified, []edit{add(sans, `{"san_type": "URI", "matcher": {"prefix": "spiffe://other/"}}`)}},
		"two trust domains, and no list of CAs":     {unverified, []edit{drop("configs.3"), add(sans, `{"san_type": "URI", "matcher": {"prefix": "spiffe://other/"}}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedDump(t, all, files, "", exampleDump(t), append([]edit{completed}, tt.edits...)...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// TestFoldersOfParts reads parts of a dump out of files. A part counts as a dump, and no file is passed over.
func TestFoldersOfParts(t *testing.T) {
	t.Parallel()
	files, err := lab.Open(lab.Choice{}, "../../examples/sidecar/policies")
	if err != nil {
		t.Fatal(err)
	}
	all, err := files.CasesFor(lab.Surroundings{}, files.Inbounds())
	if err != nil {
		t.Fatal(err)
	}
	whole := completed(exampleDump(t))
	text := func(of any) *fstest.MapFile {
		data, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		return &fstest.MapFile{Data: data}
	}
	parts := whole.(map[string]any)["configs"].([]any)
	without := func(edits ...edit) *fstest.MapFile {
		dump := completed(exampleDump(t))
		for _, e := range edits {
			dump = e(dump)
		}
		return text(dump)
	}
	var ofHTTP []any
	editAt(completed(exampleDump(t)), filters, func(old any) any {
		ofHTTP = old.([]any)
		return old
	})
	entry := map[string]any{"inbound": "dp/http-port", "filters": ofHTTP[:1]}
	answerOf := func(layers ...any) map[string]any {
		return map[string]any{"layers": append([]any{}, layers...), "entries": map[string]any{}}
	}
	runtime := answerOf("admin")
	layered := func(layers string) *fstest.MapFile {
		return without(put("configs.2.bootstrap.layered_runtime", `{"layers": `+layers+`}`))
	}
	const two = `[{"name": "s", "static_layer": {"overload": {"x": true}, "re2.max_program_size.error_level": 4294967295}}, {"name": "a", "admin_layer": {}}]`
	// shows is the answer to /runtime of some layers: for each key, a text with the values of the layers, and spaces between these.
	shows := func(layers string, entries ...string) map[string]any {
		out := answerOf()
		for _, layer := range strings.Split(layers, " ") {
			out["layers"] = append(out["layers"].([]any), layer)
		}
		for i := 0; i < len(entries); i += 2 {
			var values []any
			for _, v := range strings.Split(entries[i+1], " ") {
				values = append(values, v)
			}
			out["entries"].(map[string]any)[entries[i]] = map[string]any{"layer_values": values}
		}
		return out
	}
	for name, tt := range map[string]struct {
		want  outcome
		files fstest.MapFS
	}{
		"the whole dump":         {verified, fstest.MapFS{"a.json": text(whole)}},
		"its parts":              {verified, fstest.MapFS{"a.json": text(parts[0]), "b.json": text(parts[1]), "c.json": text(parts[2]), "d.json": text(parts[3])}},
		"its parts in a list":    {verified, fstest.MapFS{"a.json": text(parts)}},
		"listeners alone":        {unverified, fstest.MapFS{"a.json": text(parts[0])}},
		"listeners and clusters": {unverified, fstest.MapFS{"a.json": text(parts[0]), "b.json": text(parts[1])}},
		"no bootstrap":           {unverified, fstest.MapFS{"a.json": text(parts[0]), "b.json": text(parts[1]), "d.json": text(parts[3])}},
		"no secrets":             {unverified, fstest.MapFS{"a.json": text(parts[0]), "b.json": text(parts[1]), "c.json": text(parts[2])}},
		"filters beside a dump that lacks the inbound": {unverified, fstest.MapFS{"a.json": without(drop("configs.0.dynamic_listeners.0")), "b.json": text(entry)}},
		"filters in one list with such a dump":         {unverified, fstest.MapFS{"a.json": text([]any{value(string(without(drop("configs.0.dynamic_listeners.0")).Data)), entry})}},
		"filters beside a dump without a listener":     {unverified, fstest.MapFS{"a.json": without(drop("configs.0")), "b.json": text(entry), "c.json": text(map[string]any{"inbound": "dp/6379", "filters": ofHTTP[:1]})}},
		"filters beside a whole dump":                  {unverified, fstest.MapFS{"a.json": text(whole), "b.json": text(entry)}},
		"a bootstrap that is not there":                {unverified, fstest.MapFS{"a.json": without(drop("configs.2.bootstrap")), "b.json": text(runtime)}},
		"a bootstrap without a field":                  {unverified, fstest.MapFS{"a.json": without(put("configs.2.bootstrap", `{}`)), "b.json": text(runtime)}},
		"a bootstrap with a type alone":                {unverified, fstest.MapFS{"a.json": without(put("configs.2.bootstrap", `{"@type": "T/envoy.config.bootstrap.v3.Bootstrap"}`)), "b.json": text(runtime)}},
		"a bootstrap of null":                          {unverified, fstest.MapFS{"a.json": without(put("configs.2", `{"@type": "T/envoy.admin.v3.BootstrapConfigDump", "bootstrap": null}`)), "b.json": text(runtime)}},
		"a bootstrap of nulls":                         {unverified, fstest.MapFS{"a.json": without(put("configs.2.bootstrap", `{"node": null, "layered_runtime": null}`)), "b.json": text(runtime)}},
		"no layers, and no answer of the runtime":      {unverified, fstest.MapFS{"a.json": without(put("configs.2.bootstrap", `{"node": {}}`))}},
		"no layers, which the runtime shows":           {verified, fstest.MapFS{"a.json": without(put("configs.2.bootstrap", `{"node": {}}`)), "b.json": text(answerOf())}},
		"an empty list, which the runtime shows":       {verified, fstest.MapFS{"a.json": without(put("configs.2.bootstrap", `{"node": {}, "layered_runtime": {}}`)), "b.json": text(answerOf(""))}},
		"no layers, and a runtime with another one":    {unverified, fstest.MapFS{"a.json": without(put("configs.2.bootstrap", `{"node": {}}`)), "b.json": text(runtime)}},
		"layers with the keys that the runtime shows":  {verified, fstest.MapFS{"a.json": layered(two), "b.json": text(shows("s a", "overload.x", "true ", "re2.max_program_size.error_level", "4.29497e+09 "))}},
		"a key that the admin interface changed":       {verified, fstest.MapFS{"a.json": layered(two), "b.json": text(shows("s a", "overload.x", "true false", "re2.max_program_size.error_level", "4.29497e+09 "))}},
		"a runtime without a key of the layers":        {unverified, fstest.MapFS{"a.json": layered(two), "b.json": text(shows("s a", "overload.x", "true "))}},
		"a runtime with a key more in a static layer":  {unverified, fstest.MapFS{"a.json": layered(two), "b.json": text(shows("s a", "overload.x", "true ", "overload.y", "1 ", "re2.max_program_size.error_level", "4.29497e+09 "))}},
		"a runtime with another value of a layer":      {unverified, fstest.MapFS{"a.json": layered(two), "b.json": text(shows("s a", "overload.x", "false ", "re2.max_program_size.error_level", "4.29497e+09 "))}},
		"a runtime with a layer more":                  {unverified, fstest.MapFS{"a.json": layered(two), "b.json": text(shows("s a b", "overload.x", "true  ", "re2.max_program_size.error_level", "4.29497e+09  "))}},
		"a runtime without values of layers":           {unverified, fstest.MapFS{"a.json": layered(two), "b.json": text(shows("s a", "overload.x", "true", "re2.max_program_size.error_level", "4.29497e+09"))}},
		"a runtime of static layers alone":             {unverified, fstest.MapFS{"a.json": layered(`[{"name": "s", "static_layer": {"overload": {"x": true}}}]`), "b.json": text(answerOf("s"))}},
		"layers that are no list":                      {unverified, fstest.MapFS{"a.json": without(put("configs.2.bootstrap", `{"node": {}, "layered_runtime": {"layers": {}}}`)), "b.json": text(answerOf())}},
		"a file with another ending":                   {unverified, fstest.MapFS{"a.json": text(whole), "b.txt": text(parts[0])}},
		"a file with capitals as ending":               {unverified, fstest.MapFS{"a.json": text(whole), "b.JSON": text(parts[0])}},
		"a file without an ending":                     {unverified, fstest.MapFS{"a.json": text(whole), "x/listener": text(parts[0])}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := sidecar.Folder(tt.files)
			if err != nil {
				t.Fatal(err)
			}
			v, _, err := pair(t.Context(), all, files, false, "", nil, found)
			if err != nil {
				t.Fatal(err)
			}
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q", got, tt.want, lines(v.Unverified))
			}
		})
	}
}

// bundled is the place of the CAs in a dump that [completed] has completed.
const bundled = "configs.3.dynamic_active_secrets.0.secret.validation_context"
