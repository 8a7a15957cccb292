package report_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	gatewayapi "sigs.k8s.io/gateway-api/conformance/apis/v1"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/markdown"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

// everything is a run where each level of a profile has another result.
func everything() report.Run {
	needs := func(names ...feature.Name) func(*report.Case) { return func(c *report.Case) { c.Features = names } }
	wrong := reporttest.Denied("/admin")
	wrong.Passed, wrong.Problems = false, []string{"the case wants allow, Envoy says refused\nand more", "another problem"}
	r := reporttest.NewRun("1.40.0",
		reporttest.Changed(reporttest.NewCase("a story", "mesh-operator-2", "1", reporttest.Allowed("/")), needs("MeshOperator2")),
		reporttest.Changed(reporttest.NewCase("a path", "path", "1", reporttest.Allowed("/"), reporttest.Denied("/admin")), needs("MTPPath")),
		reporttest.Changed(reporttest.Changed(reporttest.NewCase("of older versions", "path", "9", reporttest.Denied("/..;/")), needs("MTPPath")), reporttest.Skipped("it holds before 1.39.3 only", false)),
		reporttest.Changed(reporttest.NewCase("an option", "option-2", "1", wrong), needs("MTPOption2")),
		reporttest.Changed(reporttest.NewCase("ports", "gateway-ports", "1", reporttest.Allowed("/")), needs("AuthorizationPolicyPorts")),
		reporttest.Changed(reporttest.Changed(reporttest.NewCase("all ports", "gateway-ports", "9"), needs("AuthorizationPolicyPorts")), reporttest.Skipped("it needs AuthorizationPolicyPorts, which is exempt", true)),
		reporttest.Changed(reporttest.NewCase("without a feature", "", "1", reporttest.Allowed("/")), needs()),
	)
	r.Unsupported = []feature.Name{"MTPPreciseShadow"}
	r.ClassesProven = &report.Classes{Proven: 1284, Of: 1284, Complete: true}
	r.MutationScore = &report.Score{Killed: 90, Of: 90}
	return r
}

func TestConformance(t *testing.T) {
	t.Parallel()
	text, err := report.NewConformance(everything()).YAML()
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "conformance.yaml", text)
}

// Gateway API's own types read the report. They know every field except meshproof, which
// holds meshproof's additions.
func TestGatewayAPIReadsTheReport(t *testing.T) {
	t.Parallel()
	text, err := report.NewConformance(everything()).YAML()
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := yaml.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	if _, ok := fields["meshproof"]; !ok {
		t.Error("nothing stands under meshproof")
	}
	delete(fields, "meshproof")
	known, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(known))
	decoder.DisallowUnknownFields()
	var got gatewayapi.ConformanceReport
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if err := got.Implementation.Validate(); err != nil {
		t.Error(err)
	}
	if got.Kind != "ConformanceReport" || got.APIVersion != gatewayapi.GroupVersion.String() || len(got.ProfileReports) != 2 {
		t.Fatalf("%+v", got)
	}
	kuma, gep := got.ProfileReports[0], got.ProfileReports[1]
	if kuma.Core.Result != gatewayapi.Success || kuma.Core.Passed != 2 || kuma.Core.Skipped != 0 ||
		kuma.Extended.Result != gatewayapi.Failure || !slices.Equal(kuma.Extended.FailedTests, []string{"an option"}) ||
		!slices.Equal(kuma.Extended.UnsupportedFeatures, []string{"MTPPreciseShadow"}) {
		t.Errorf("%+v, %+v", kuma, kuma.Extended)
	}
	if gep.Core.Result != gatewayapi.Partial || gep.Core.Passed != 1 || !slices.Equal(gep.Core.SkippedTests, []string{"all ports"}) {
		t.Errorf("%+v", gep)
	}
}

// A profile is no success if none of its cases was run.
func TestNothingRunIsNoSuccess(t *testing.T) {
	t.Parallel()
	other := reporttest.Changed(reporttest.NewCase("of another version", "path", "1"), reporttest.Skipped("it holds before 1.39.3 only", false))
	option := reporttest.Changed(reporttest.NewCase("an option", "path", "1", reporttest.Allowed("/")), func(c *report.Case) { c.Features = []feature.Name{"MTPOption2"} })
	for want, r := range map[string]report.Run{
		"Core tests: no case was run.":                           reporttest.NewRun("1.40.0", other),
		"Core tests: no case was run. Extended tests succeeded.": reporttest.NewRun("1.40.0", option),
		"Core tests partially succeeded with 1 skips.":           reporttest.NewRun("1.40.0", reporttest.Changed(other, reporttest.Skipped("exempt", true))),
	} {
		profiles := report.NewConformance(r).Profiles
		if len(profiles) != 1 || profiles[0].Name != string(feature.KumaMTP) || profiles[0].Core.Result != report.Partial || profiles[0].Summary != want {
			t.Errorf("%+v, want one with the summary %q", profiles, want)
		}
	}
}

// The report does not mention a profile without a case in the run.
func TestProfilesWithoutACase(t *testing.T) {
	t.Parallel()
	if profiles := report.NewConformance(reporttest.NewRun("1.40.0", reporttest.Changed(reporttest.NewCase("without a feature", "", "1"), func(c *report.Case) { c.Features = nil }))).Profiles; len(profiles) != 0 {
		t.Errorf("%+v", profiles)
	}
}

func TestPolicyNames(t *testing.T) {
	t.Parallel()
	r := reporttest.NewRun("1.40.0", reporttest.NewCase("a", "s", "1", reporttest.Allowed("/")))
	if got := report.NewConformance(r).Meshproof.PolicyNames; got != "compared" {
		t.Errorf("got %s", got)
	}
	r.AnyNames = true
	if got := report.NewConformance(r).Meshproof.PolicyNames; got != "any" {
		t.Errorf("got %s", got)
	}
	var text strings.Builder
	if err := markdown.Write(&text, []report.Run{r}); err != nil || !strings.Contains(text.String(), "Any name of a policy would do") {
		t.Errorf("the summary does not say so:\n%s", &text)
	}
}

// The same decisions have the same hash in every run, and other decisions have another.
func TestHash(t *testing.T) {
	t.Parallel()
	first := reporttest.NewCase("a", "s", "1", reporttest.Allowed("/"), reporttest.Denied("/admin"))
	for name, tt := range map[string]struct {
		change func(*report.Case)
		same   bool
	}{
		"another time":        {func(c *report.Case) { c.Milliseconds = 99; c.Requests[0].Evidence.Milliseconds = 99 }, true},
		"a retry":             {func(c *report.Case) { c.Requests[0].Evidence.Retries = 2 }, true},
		"another key":         {func(c *report.Case) { c.Requests[0].Evidence.Upstream = arrived(c, "Hash=ff") }, true},
		"another line":        {func(c *report.Case) { c.Place = "elsewhere.yaml:9" }, true},
		"another identity":    {func(c *report.Case) { c.Requests[0].Evidence.Upstream = arrived(c, "URI=spiffe://other") }, false},
		"another outcome":     {func(c *report.Case) { c.Requests[1].Outcome = "allow" }, false},
		"another policy":      {func(c *report.Case) { c.Requests[1].By = "somebody" }, false},
		"another shadow":      {func(c *report.Case) { c.Requests[1].Shadow = "deny" }, false},
		"another log":         {func(c *report.Case) { c.Requests[0].Evidence.Log = "x" }, false},
		"another answer":      {func(c *report.Case) { c.Requests[0].Evidence.Caller = "HTTP 500" }, false},
		"other counters":      {func(c *report.Case) { c.Counters = map[string]report.Counters{"backend/http-port": {Denied: 2}} }, false},
		"one request less":    {func(c *report.Case) { c.Requests = c.Requests[:1] }, false},
		"another caller":      {func(c *report.Case) { c.Requests[0].From = "b" }, false},
		"an error":            {func(c *report.Case) { c.Error = "x" }, false},
		"another case's name": {func(c *report.Case) { c.Case = "b" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := reporttest.Changed(first, tt.change); (got.EvidenceSHA256 == first.EvidenceSHA256) != tt.same {
				t.Errorf("the hashes are %s and %s", got.EvidenceSHA256, first.EvidenceSHA256)
			}
		})
	}
	if none := reporttest.NewCase("a", "s", "1"); none.EvidenceSHA256 != "" {
		t.Error("nothing was seen, and it has a hash")
	}
}

// arrived is what reached the upstream of the first request, with another part in its
// XFCC header.
func arrived(c *report.Case, part string) *report.Arrived {
	out := *c.Requests[0].Evidence.Upstream
	switch part[:4] {
	case "Hash":
		out.XFCC = "By=spiffe://trust-domain.mesh/backend;" + part + ";URI=spiffe://trust-domain.mesh/ns/web/sa/web"
	default:
		out.XFCC = "By=spiffe://trust-domain.mesh/backend;Hash=ab12;" + part
	}
	return &out
}

// Bytes that are no UTF-8 are read back as the replacement character. The evidence stays the
// same.
func TestHashSurvivesBytes(t *testing.T) {
	t.Parallel()
	c := reporttest.NewCase("a", "s", "1", reporttest.Allowed("/\xff"), reporttest.Allowed("/\ufffd"), reporttest.Allowed(`/\ufffd`))
	text, err := report.Encode(reporttest.NewRun("1.40.0", c))
	if err != nil {
		t.Fatal(err)
	}
	read, err := report.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Cases[0].Check(); err != nil {
		t.Error(err)
	}
}

func TestForwardedCertificateWithoutItsHash(t *testing.T) {
	t.Parallel()
	for xfcc, want := range map[string]string{
		"":                               "",
		"By=a;Hash=1f;URI=b":             "By=a;URI=b",
		"By=a;URI=b":                     "By=a;URI=b",
		"By=a;Hash=1f":                   "By=a;",
		"By=a;Hash=1f;URI=x;Hash=2;URI=": "By=a;URI=x;Hash=2;URI=",
	} {
		q := report.Request{Evidence: report.Evidence{Upstream: &report.Arrived{XFCC: xfcc}}}
		if diff := cmp.Diff(want, q.Lasting().Evidence.Upstream.XFCC); diff != "" {
			t.Errorf("%s (-want +got):\n%s", xfcc, diff)
		}
	}
}

// Runs of older versions do not state the protocol: their hashes must stay valid.
func TestHashLeavesTheProtocolOut(t *testing.T) {
	t.Parallel()
	with := reporttest.NewCase("c", "s", "1", reporttest.Allowed("/"))
	without := reporttest.Changed(with, func(c *report.Case) { c.Requests[0].Protocol = "" })
	if with.Requests[0].Protocol == "" || with.EvidenceSHA256 != without.EvidenceSHA256 {
		t.Errorf("with %q: %s, without: %s", with.Requests[0].Protocol, with.EvidenceSHA256, without.EvidenceSHA256)
	}
}
