package policyset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
)

// turn is the number of a set in a run. A compiler may be wrong for the names with one first letter, or where
// a question has no peers. So these take turns, and chance decides nothing: in [Turns] sets in a row, the
// names of workloads and trust domains begin with each letter and with a digit, and some sets have no peers. A
// set may have no service account, or no other namespace than the usual one: of these the names begin with most
// letters.
type turn uint64

// Turns is how many sets in a row have every first character.
const Turns = 40

// firsts are the first characters, with a place for the digits.
const firsts = "abcdefghijklmnopqrstuvwxyz0"

// block is how many sets in a row have one order of what stays.
const block = 8

// keepsNames reports whether the usual names stay, and keepsDomains whether the usual trust domains do. A
// compiler may know these alone.
func (t turn) keepsNames() bool   { return t%block >= 6 }
func (t turn) keepsDomains() bool { t %= block; return t == 2 || t == 3 }

// hasNoPeers reports whether a question of the set has no peers.
func (t turn) hasNoPeers() bool { return t%block == 5 }

// nameRank and domainRank count the sets that get new names before this one.
func (t turn) nameRank() int { return int(t/block)*6 + int(min(t%block, 6)) }

func (t turn) domainRank() int {
	in := int(t % block)
	if in >= 2 {
		in = max(2, in-2)
	}
	return int(t/block)*6 + in
}

// first returns the first character of the names of a rank. Digits take turns too.
func (w *words) first(rank int) string {
	c := firsts[rank%len(firsts)]
	if c == '0' {
		return fmt.Sprint(w.IntN(10))
	}
	return string(c)
}

// lead says with which characters the names of a case begin, and in which style they are. The first name of
// each kind has the character whose turn it is, and the others have others.
func (w *words) lead(c cases.Case, policies []any) {
	var workloads, namespaces, names []string
	for _, in := range c.Inbounds {
		workloads, namespaces = append(workloads, in.Workload.Name), append(namespaces, in.Workload.Namespace)
	}
	for _, p := range policies {
		p, _ := p.(map[string]any)
		metadata, _ := p["metadata"].(map[string]any)
		for _, of := range []map[string]any{p, metadata} {
			if name, ok := of["name"].(string); ok {
				names = append(names, name)
			}
		}
	}
	// Steps of 11 meet each of the 27 characters. A set may have no service account, and most have several:
	// three characters take turns with them.
	rank := w.turn.nameRank()
	for _, kind := range []struct {
		names       []string
		begin, step int
	}{{workloads, rank, 11}, {accountsIn(policies), int(w.turn/2) * 3, 1}, {namespaces, rank, 11}, {names, rank, 11}} {
		i := 0
		for _, name := range kind.names {
			root := w.root(w.names, wordPattern.FindString(name))
			if _, known := w.firsts[root]; root == "" || known {
				continue
			}
			w.firsts[root] = w.first(kind.begin + kind.step*i)
			i++
		}
	}
	for i, td := range c.TrustDomains {
		if w.domains[td.Name()] != "" {
			w.firsts[td.Name()] = w.first(w.turn.domainRank() + 11*i)
		}
	}
}

// root returns the shortest known text with which a known word begins, and "" for a word that is not known.
func (w *words) root(v vocabulary, word string) string {
	if v[word] == "" {
		return ""
	}
	for end := 1; end < len(word); end++ {
		if v[word[:end]] != "" {
			return word[:end]
		}
	}
	return word
}

// accountsIn returns the service accounts that policies name, by their names or by SPIFFE IDs.
func accountsIn(v any) (out []string) {
	switch v := v.(type) {
	case string:
		if _, account, ok := strings.Cut(v, "/sa/"); ok {
			out = append(out, account)
		}
	case []any:
		for _, item := range v {
			out = append(out, accountsIn(item)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if account, ok := v[key].(map[string]any); ok && key == "serviceAccount" {
				if name, ok := account["name"].(string); ok {
					out = append(out, name)
				}
			}
			out = append(out, accountsIn(v[key])...)
		}
	}
	return out
}
