package report

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
)

//go:embed page.html page.css page.js
var pageAssets embed.FS

var (
	pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{"count": pageCount, "v": visible, "lines": pageLines}).ParseFS(pageAssets, "page.html"))
	pageStyle    = template.CSS(pageAsset("page.css"))
	pageScript   = template.JS(pageAsset("page.js"))
	// pagePolicy lets in the page's own style, script and empty icon, and nothing else.
	pagePolicy = "default-src 'none'; style-src " + pageHash(string(pageStyle)) + "; script-src " + pageHash(string(pageScript)) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
)

// HTML writes runs as one page that needs no network and no other file: what failed,
// what differs, a matrix of stories and runs, and for each case a truth table with the
// evidence of every cell. Each run is a column, titled by [Labels]; evidence on which
// runs agree stands there once. The page is whole without its script, which filters and
// opens. It lets in no other script or style, whatever the runs hold.
//
// Its error is that of w, or that there is no run.
func HTML(w io.Writer, runs []Run) error {
	if len(runs) == 0 {
		return errors.New("report: write the page: there is no run to show: name at least one")
	}
	out := bufio.NewWriter(w)
	if err := cmp.Or(pageTemplate.Execute(out, newPageView(runs)), out.Flush()); err != nil {
		return fmt.Errorf("report: write the page: %w", err)
	}
	return nil
}

func pageAsset(name string) string {
	text, err := pageAssets.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded above
	}
	return string(text)
}

// pageHash is the source expression of an inline style or script (CSP Level 3, section 2.3.1).
func pageHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
