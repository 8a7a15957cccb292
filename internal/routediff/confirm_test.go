package routediff_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/result/resulttest"
	"github.com/meshproof/meshproof/internal/routediff"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/verdict"
)

const (
	meshOfBoth = `{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: []}}
---
{type: Dataplane, mesh: default, name: s-1, networking: {address: 10.0.0.2, inbound: [{name: main, port: 8080, tags: {app: s, kuma.io/protocol: http}}]}}
---
{type: Dataplane, mesh: default, name: v2-1, networking: {address: 10.0.0.3, inbound: [{name: main, port: 8080, tags: {app: v2, kuma.io/protocol: http}}]}}
---
{type: Dataplane, mesh: default, name: db-1, networking: {address: 10.0.0.4, inbound: [{name: main, port: 5432, tags: {app: db, kuma.io/protocol: tcp}}]}}
---
{type: MeshService, mesh: default, name: s, spec: {selector: {dataplaneTags: {app: s}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}
---
{type: MeshService, mesh: default, name: v2, spec: {selector: {dataplaneTags: {app: v2}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}
---
{type: MeshService, mesh: default, name: db, spec: {selector: {dataplaneTags: {app: db}}, ports: [{port: 5432, targetPort: 5432, appProtocol: tcp}]}}
---
{type: MeshTrafficPermission, mesh: default, name: all, spec: {rules: [{default: {allow: [{spiffeID: {type: Prefix, value: 'spiffe://trust-domain.mesh/ns/default/sa/web'}}]}}]}}
---
`
	toV2 = `{type: MeshHTTPRoute, mesh: default, name: r, spec: {targetRef: {kind: Dataplane, name: web}, to: [{targetRef: {kind: MeshService, name: s}, rules: [{matches: [{path: {type: PathPrefix, value: /a}}], default: {backendRefs: [{kind: MeshService, name: v2}]}}]}]}}
---
`
)

func timeout(service, conf string) string {
	return "{type: MeshTimeout, mesh: default, name: t, spec: {targetRef: {kind: Dataplane, name: web}, to: [{targetRef: {kind: MeshService, name: " + service + "}, default: {" + conf + "}}]}}\n---\n"
}

// Each change is asked for on both sides. A limit that changes is waited for by a request that shows it,
// or it is named.
func TestConfirm(t *testing.T) {
	t.Parallel()
	never, _ := script.Named("never")
	after := func(d time.Duration) string { return script.Answer{After: d}.String() }
	for name, tt := range map[string]struct {
		old, recent string
		asked       []string
		verdict     string
	}{
		"moved":               {"", toV2, []string{"s GET /a"}, "; shown on Envoy 1.40.0"},
		"longer":              {timeout("s", "http: {requestTimeout: 200ms}"), timeout("s", "http: {requestTimeout: 2s}"), []string{"s GET /", "s GET / " + after(300*time.Millisecond)}, "; shown on Envoy 1.40.0"},
		"none any more":       {timeout("s", "http: {requestTimeout: 200ms}"), timeout("s", "http: {requestTimeout: 0s}"), []string{"s GET /", "s GET / " + after(300*time.Millisecond)}, "; shown on Envoy 1.40.0"},
		"little longer":       {timeout("s", "http: {requestTimeout: 200ms}"), timeout("s", "http: {requestTimeout: 250ms}"), []string{"s GET /", "s GET / " + never.String()}, "; shown on Envoy 1.40.0"},
		"too long":            {timeout("s", "http: {requestTimeout: 3s}"), timeout("s", "http: {requestTimeout: 5s}"), []string{"s GET /"}, "; shown on Envoy 1.40.0, but for 1 limit that no request waits for"},
		"behind another":      {timeout("s", "http: {requestTimeout: 100ms, streamIdleTimeout: 300ms}"), timeout("s", "http: {requestTimeout: 100ms, streamIdleTimeout: 900ms}"), []string{"s GET /"}, "; shown on Envoy 1.40.0, but for 1 limit that no request waits for"},
		"head":                {timeout("s", "http: {requestHeadersTimeout: 200ms, maxStreamDuration: 0s}"), timeout("s", "http: {requestHeadersTimeout: 1s, maxStreamDuration: 0s}"), []string{"s GET /", "s GET / head 300ms"}, "; shown on Envoy 1.40.0"},
		"stream of a backend": {timeout("s", "http: {maxStreamDuration: 200ms}"), timeout("s", "http: {maxStreamDuration: 2s}"), []string{"s GET / " + after(300*time.Millisecond)}, "; shown on Envoy 1.40.0"},
		"idle backend":        {timeout("s", "idleTimeout: 200ms"), timeout("s", "idleTimeout: 2s"), []string{"s GET / keep 300ms"}, "; shown on Envoy 1.40.0"},
		"connection":          {timeout("s", "connectionTimeout: 200ms"), timeout("s", "connectionTimeout: 1s"), nil, "; no request shows it on an Envoy"},
		"another share":       {strings.Replace(toV2, "backendRefs: [", "backendRefs: [{kind: MeshService, name: s}, ", 1), strings.Replace(toV2, "backendRefs: [", "backendRefs: [{kind: MeshService, name: s, weight: 3}, ", 1), []string{"s GET /a"}, "; shown on Envoy 1.40.0, but for 1 change that no request shows"},
		"idle tcp":            {timeout("db", "idleTimeout: 200ms"), timeout("db", "idleTimeout: 2s"), []string{"db", "db " + after(300*time.Millisecond)}, "; shown on Envoy 1.40.0"},
		"nothing":             {timeout("s", "http: {requestTimeout: 2s}"), timeout("s", "http: {requestTimeout: 2s}"), nil, "; no request shows it on an Envoy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d, err := routediff.Diff(open(t, dir, "old", meshOfBoth+tt.old), open(t, dir, "new", meshOfBoth+tt.recent))
			if err != nil {
				t.Fatal(err)
			}
			var asked []string
			_, err = d.Confirm(t.Context(), "1.40.0", func(_ context.Context, sides ...*verdict.Reading) []result.Case {
				for i, side := range sides {
					var texts []string
					for _, q := range side.Case.RoutedRequests {
						_, service, _ := strings.Cut(q.To, "kri_msvc_default___")
						service, _, _ = strings.Cut(service, "_")
						text := strings.TrimSpace(service + " " + q.Method + " " + q.Path)
						if q.Answer != (script.Answer{}) {
							text += " " + q.Answer.String()
						}
						for what, pause := range map[string]time.Duration{"head": q.Sends.Head, "keep": q.Sends.Keep} {
							if pause > 0 {
								text += fmt.Sprintf(" %s %s", what, pause)
							}
						}
						texts = append(texts, text)
					}
					if i == 0 {
						asked = texts
					} else if diff := cmp.Diff(asked, texts); diff != "" {
						t.Error(diff)
					}
				}
				return resulttest.Run(sides)
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Error(diff)
			}
			if !strings.HasSuffix(d.Sentence(), "complete"+tt.verdict) && !strings.HasSuffix(d.Sentence(), "see above"+tt.verdict) {
				t.Errorf("%s, want the end %s", d.Sentence(), tt.verdict)
			}
		})
	}
}

// What an Envoy does otherwise, and that it gave no answer, is told in each form.
func TestConfirmFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*result.Case)
		want   []string
	}{
		"otherwise": {func(c *result.Case) {
			c.RoutedRequests[0].Problems = []verdict.Problem{{Kind: verdict.OtherRoute, Expected: "r", Found: "none"}}
		}, []string{"does otherwise", "new: "}},
		"no answer": {func(c *result.Case) { c.Err, c.Fault, c.RoutedRequests = fmt.Errorf("Envoy ended"), true, nil }, []string{"gave no answer", "Envoy ended"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d, err := routediff.Diff(open(t, dir, "old", meshOfBoth), open(t, dir, "new", meshOfBoth+toV2))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Confirm(t.Context(), "1.40.0", func(_ context.Context, sides ...*verdict.Reading) []result.Case {
				out := resulttest.Run(sides)
				tt.change(&out[1])
				return out
			}); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			d.WriteText(&text, false)
			form, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []string{text.String(), string(form), strings.Join(d.Paragraphs(), "\n")} {
				for _, want := range tt.want {
					if !strings.Contains(got, want) {
						t.Errorf("want %q in\n%s", want, got)
					}
				}
			}
		})
	}
}
