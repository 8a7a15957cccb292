package proof

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// What is drawn is what a caller can send for sure: package classes knows more.
var (
	isHost = regexp.MustCompile(`^[a-zA-Z0-9._-]+(:[0-9]*)?$`)
	isLine = regexp.MustCompile(`^([!-~]([ -~]*[!-~])?)?$`)
)

// drawHeaders draws the host, the query and the header lines of a request, as far as the
// program looks at them.
func drawHeaders(r *policy.Request, values map[*policy.Attribute][]string, pick func([]string) string, random *rand.Rand) {
	if hosts := values[attribute.Host]; len(hosts) > 0 {
		if r.Host = pick(hosts); !isHost.MatchString(r.Host) {
			r.Host = "any.example"
		}
	}
	lines, queries := map[string][]string{}, slices.Clone(values[attribute.Query])
	for a, texts := range values {
		switch a.Family {
		case attribute.Header("x").Family, attribute.Header("x").Joined.Family:
			lines[a.Key] = append(lines[a.Key], texts...)
		case attribute.QueryParameter("x").Family:
			for _, text := range texts {
				queries = append(queries, a.Key+"="+text)
			}
		}
	}
	for _, text := range values[attribute.Header(":path")] {
		_, query, _ := strings.Cut(text, "?")
		queries = append(queries, query)
	}
	slices.Sort(queries)
	if len(queries) > 0 && random.IntN(4) > 0 {
		if query := pick(queries); !strings.ContainsAny(query, " #\\^[]{}|\"<>`") {
			r.Path += "?" + query
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		slices.Sort(lines[name])
		for range random.IntN(3) {
			if line := pick(lines[name]); isLine.MatchString(line) {
				r.Headers = append(r.Headers, policy.Header{Name: name, Value: line})
			}
		}
	}
}
