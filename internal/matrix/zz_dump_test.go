package matrix

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/verdict"
)

func TestZZDump(t *testing.T) {
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range strings.Split(os.Getenv("ZZ_PROFILES"), ",") {
		var seeds int
		fmt.Sscan(os.Getenv("ZZ_SEEDS"), &seeds)
		s := Suite{Selection: Selection{Profiles: []feature.Profile{feature.Profile(profile)}}, Cases: stories}
		covered, err := s.covered()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				s := s
				s.Seed = uint64(seed)
				src := newSource(s, covered, s.freshForms(covered))
				f, _ := os.Create(fmt.Sprintf("/tmp/q19/%s-%d.jsonl", profile, seed))
				w := bufio.NewWriter(f)
				put := func(kind string, number uint64, c cases.Case) {
					reading, err := verdict.Read(c)
					if err != nil {
						return
					}
					for i, in := range reading.Inbounds() {
						text, err := plugin.Question(plugin.Newest, c.Inbounds[i].Inbound, c.Policies, c.Options)
						if err != nil {
							continue
						}
						fmt.Fprintf(w, "{\"kind\":%q,\"number\":%d,\"closed\":%t,\"q\":%s}\n", kind, number, closed(in), text)
					}
				}
				if seed == 0 {
					for i, c := range src.accepted {
						put("case", uint64(i), c)
					}
				}
				for n := range uint64(40) {
					if c, ok := src.draw(n); ok {
						put("draw", n, c)
					}
				}
				for n := range uint64(paperSets) {
					if c, _, ok := src.paper(firstPaper + n); ok {
						put("paper", n, c)
					}
				}
				for n := range uint64(relatedSets) {
					if c, _, ok := src.paper(firstRelated + n); ok {
						put("related", n, c)
					}
				}
				for n := range uint64(updatedSets) {
					if c, before, ok := src.paper(firstUpdated + n); ok {
						put("before", n, before.Case)
						put("update", n, c)
					}
				}
				w.Flush()
				f.Close()
			}
		})
	}
}
