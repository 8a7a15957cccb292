// Package page draws runs as one HTML page.
//
// [Write] guarantees that the page needs no network and no other file, that the same runs give the same bytes, and that
// nothing in a run becomes markup or a script. The page is complete without its script, which only filters and opens.
// It judges nothing: every verdict on the page is one of the runs.
package page

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/terminal"
)

//go:embed page.html page.css page.js
var assets embed.FS

var (
	// pageTemplate is parsed when a page is written, because most runs of the program write none.
	pageTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("page.html").Funcs(template.FuncMap{"count": terminal.Number, "v": report.Visible, "lines": visibleLines}).ParseFS(assets, "page.html"))
	})
	style  = template.CSS(asset("page.css"))
	script = template.JS(asset("page.js"))
	// contentPolicy allows the style, the script and the empty icon of the page, and nothing else.
	contentPolicy = "default-src 'none'; style-src " + sourceHash(string(style)) + "; script-src " + sourceHash(string(script)) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
)

// HTML writes runs as one page that needs no network and no other file: what failed,
// what differs, a matrix of stories and runs, and for each case a truth table with the
// evidence of every cell. Each run is a column, titled by [Labels]; evidence on which
// runs agree stands there once. The page is complete without its script, which only filters
// and opens. The browser runs no other script and applies no other style, also for hostile
// text in the runs.
//
// It is an error if w fails, or if there is no run.
func Write(w io.Writer, runs []report.Run) error {
	if len(runs) == 0 {
		return errors.New("report: write the page: there is no run to show: name at least one")
	}
	out := bufio.NewWriter(w)
	if err := cmp.Or(pageTemplate().Execute(out, newView(runs)), out.Flush()); err != nil {
		return fmt.Errorf("report: write the page: %w", err)
	}
	return nil
}

func asset(name string) string {
	text, err := assets.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded above
	}
	return string(text)
}

// sourceHash is the source expression of an inline style or script (CSP Level 3, section 2.3.1).
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
