package adversary_test

import (
	"bufio"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// table has the results of one version for one list of attacks. The first row has the names
// of the columns.
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

// alsoHTTP2 marks a line that is the same over HTTP/2.
const alsoHTTP2 = " +h2"

// merge writes the tables of several versions as one text. Versions with the same result
// share a line. So do an attack and the same attack over HTTP/2.
func merge(w *strings.Builder, versions []string, tables []table) {
	fmt.Fprintf(w, "\n%s%s\n", titleMark, tables[0].title)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, first := range tables[0].rows {
		if i > 0 && sameOverHTTP2(tables, i-1) {
			continue
		}
		if sameOverHTTP2(tables, i) {
			first.name += alsoHTTP2
		}
		open := slices.Clone(versions)
		for len(open) > 0 {
			cells := tables[slices.Index(versions, open[0])].rows[i].cells
			same := slices.Collect(func(yield func(string) bool) {
				for v, version := range versions {
					if slices.Contains(open, version) && slices.Equal(tables[v].rows[i].cells, cells) && !yield(version) {
						return
					}
				}
			})
			open = slices.DeleteFunc(open, func(v string) bool { return slices.Contains(same, v) })
			envoys := strings.Join(same, ",")
			switch {
			case i == 0:
				envoys = "envoy"
			case len(same) == len(versions):
				envoys = allOf
			}
			fmt.Fprintf(tab, "%s\t%s\t%s\n", first.name, envoys, strings.Join(cells, "\t"))
		}
	}
	tab.Flush()
}

// sameOverHTTP2 tells whether the next row is the same attack over HTTP/2, with the same
// results on all versions.
func sameOverHTTP2(tables []table, i int) bool {
	return !slices.ContainsFunc(tables, func(t table) bool {
		return i+1 >= len(t.rows) || t.rows[i+1].name != "h2-"+t.rows[i].name || !slices.Equal(t.rows[i].cells, t.rows[i+1].cells)
	})
}

var gap = regexp.MustCompile(` {2,}`)

// readTables returns the tables of one version from a merged text.
func readTables(text, version string) []table {
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
		if envoys := cells[1]; len(t.rows) == 0 || envoys == allOf || slices.Contains(strings.Split(envoys, ","), version) {
			name, twice := strings.CutSuffix(cells[0], alsoHTTP2)
			t.rows = append(t.rows, row{name, cells[2:]})
			if twice {
				t.rows = append(t.rows, row{"h2-" + name, cells[2:]})
			}
		}
	}
	return out
}
