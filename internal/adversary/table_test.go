package adversary_test

import (
	"bufio"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// table is what one version did with one list of attacks. The first row holds the
// names of the columns.
type table struct {
	title string
	rows  []row
}

type row struct {
	name  string
	cells []string
}

const (
	titleMark = "== "
	noteMark  = "# "
	allOf     = "all"
)

// alsoHTTP2 marks a line that holds for the attack of that name over HTTP/2 too.
const alsoHTTP2 = " +h2"

// merge writes the tables of several versions as one text. Versions that agree on
// an attack share its line, and so do an attack and its like over HTTP/2.
func merge(w *strings.Builder, versions []string, tables []table) {
	fmt.Fprintf(w, "\n%s%s\n", titleMark, tables[0].title)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, first := range tables[0].rows {
		if i > 0 && alike(tables, i-1) {
			continue
		}
		if alike(tables, i) {
			first.name += alsoHTTP2
		}
		left := slices.Clone(versions)
		for len(left) > 0 {
			cells := tables[slices.Index(versions, left[0])].rows[i].cells
			same := slices.Collect(func(yield func(string) bool) {
				for v, version := range versions {
					if slices.Contains(left, version) && slices.Equal(tables[v].rows[i].cells, cells) && !yield(version) {
						return
					}
				}
			})
			left = slices.DeleteFunc(left, func(v string) bool { return slices.Contains(same, v) })
			who := strings.Join(same, ",")
			switch {
			case i == 0:
				who = "envoy"
			case len(same) == len(versions):
				who = allOf
			}
			fmt.Fprintf(tab, "%s\t%s\t%s\n", first.name, who, strings.Join(cells, "\t"))
		}
	}
	tab.Flush()
}

// alike tells whether the next row is the same attack over HTTP/2, with the same
// results on all versions.
func alike(tables []table, i int) bool {
	return !slices.ContainsFunc(tables, func(t table) bool {
		return i+1 >= len(t.rows) || t.rows[i+1].name != "h2-"+t.rows[i].name || !slices.Equal(t.rows[i].cells, t.rows[i+1].cells)
	})
}

var gap = regexp.MustCompile(` {2,}`)

// read returns the tables of one version out of a merged text.
func read(text, version string) []table {
	var out []table
	scanner := bufio.NewScanner(strings.NewReader(text))
	for scanner.Scan() {
		line := scanner.Text()
		if title, ok := strings.CutPrefix(line, titleMark); ok {
			out = append(out, table{title: title})
			continue
		}
		cells := gap.Split(strings.TrimRight(line, " "), -1)
		if len(out) == 0 || len(cells) < 3 || strings.HasPrefix(line, noteMark) {
			continue
		}
		t := &out[len(out)-1]
		if who := cells[1]; len(t.rows) == 0 || who == allOf || slices.Contains(strings.Split(who, ","), version) {
			name, twice := strings.CutSuffix(cells[0], alsoHTTP2)
			t.rows = append(t.rows, row{name, cells[2:]})
			if twice {
				t.rows = append(t.rows, row{"h2-" + name, cells[2:]})
			}
		}
	}
	return out
}
