package diff

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy/classes"
)

// TestSidesFailures has each reason for which two sides are not shown to decide alike.
func TestSidesFailures(t *testing.T) {
	t.Parallel()
	asked := Comparison{Cover: &classes.Cover{Classes: []classes.Class{{}}}, classes: 1}
	with := func(change func(*Difference, *Comparison)) Sides {
		found := asked
		found.Cover = &classes.Cover{Classes: []classes.Class{{}}}
		d := &Difference{}
		change(d, &found)
		if d.Cases == nil {
			d.Cases = []Case{{Comparisons: []Comparison{found}}}
		}
		return Sides{Difference: d}
	}
	names := func(_ *Difference, c *Comparison) {
		c.Cover.SampledNames, c.Cover.Sampled = "several names", []string{"several names"}
	}
	for name, tt := range map[string]struct {
		change func(*Difference, *Comparison)
		want   string
	}{
		"nothing":  {func(*Difference, *Comparison) {}, ""},
		"no class": {func(_ *Difference, c *Comparison) { c.classes = 0 }, "no request was asked"},
		"an inbound": {func(d *Difference, c *Comparison) {
			d.Cases = []Case{{Inbounds: []InboundChange{{Text: "mtls"}}, Comparisons: []Comparison{*c}}}
		}, "inbound mtls"},
		"beyond the lab":    {func(_ *Difference, c *Comparison) { c.Beyond = []string{"more"} }, "requests that the lab cannot send: more"},
		"a case of A alone": {func(d *Difference, _ *Comparison) { d.OnlyOld = []string{"x"} }, "only one side has x"},
		"a case of B alone": {func(d *Difference, _ *Comparison) { d.OnlyNew = []string{"x"} }, "only one side has x"},
		"an unread one":     {func(d *Difference, _ *Comparison) { d.Unread = []string{"p.yaml:1"} }, "meshproof does not read p.yaml:1"},
		"an unasked one":    {func(d *Difference, _ *Comparison) { d.Unasked = []lab.Unasked{{Policy: "p"}} }, "not asked: "},
		"an inert one":      {func(d *Difference, _ *Comparison) { d.Unasked = []lab.Unasked{{Policy: "p", Inert: true}} }, ""},
		"a sampled cover":   {func(_ *Difference, c *Comparison) { c.Cover.Sampled = []string{"x"} }, "the cover is sampled: x"},
		"several names":     {names, "the cover is sampled: several names"},
		"too many":          {func(d *Difference, _ *Comparison) { d.Truncated = true }, "there are too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := with(tt.change)
			if got := strings.Join(s.Failures(), "; "); !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if s := with(names); true {
		if s.SVIDs = true; len(s.Failures()) > 0 || !strings.Contains(strings.Join(s.remarks(), "\n"), "several names") {
			t.Errorf("with --svids: %v, %v", s.Failures(), s.remarks())
		}
	}
}

// TestOpenSide refuses files of workloads that describe none.
func TestOpenSide(t *testing.T) {
	t.Parallel()
	if _, err := OpenSide(lab.Choice{}, "../../examples/dialects/istio", "../../examples/dialects/istio"); err == nil || !strings.HasPrefix(err.Error(), "--workloads: ") {
		t.Error(err)
	}
	files, err := OpenSide(lab.Choice{}, "../../examples/dialects/istio", "../../examples/dialects/shop.yaml")
	if err != nil || len(files.Cases) != 1 || len(files.Cases[0].Policies) != 1 || len(files.Cases[0].Options.Peers) != 3 {
		t.Errorf("%+v, %v", files, err)
	}
}
