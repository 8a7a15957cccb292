package page

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/meshproof/meshproof/internal/browsertest"
)

const (
	openCases  = `document.querySelectorAll(".case[open]").length`
	shownCases = `document.querySelector("#count").value`
	fragment   = `location.hash`
)

// Each cell of the matrix opens all truth tables of its story, and marks its run.
func TestDriveMatrix(t *testing.T) {
	t.Parallel()
	text := page(t, someRuns()...)
	p := browsertest.Open(t, address(t, text))
	p.Want(openCases, "0")
	cells := regexp.MustCompile(`<td class="m [a-z]+"><a href="#([^"]*)" aria-label="[^"]* on ([^"]*)">`).FindAllStringSubmatch(text, -1)
	if len(cells) != 10 {
		t.Fatalf("the matrix has %d cells, want 10", len(cells))
	}
	for _, cell := range cells {
		id, run := cell[1], cell[2]
		p.Eval(`document.querySelectorAll(".case").forEach((c) => { c.open = false; })`)
		p.Click(`.m a[href="#` + id + `"]`)
		p.Want(fragment, "#"+id)
		p.Want(`document.activeElement.matches(".story") && document.activeElement.contains(document.getElementById(`+strconv.Quote(id)+`))`, "true")
		p.Want(`document.activeElement.querySelectorAll(".case:not([open])").length`, "0")
		p.Want(`document.activeElement.querySelectorAll(".case").length - `+openCases, "0")
		p.Want(`document.querySelector(".matrix thead .chosen").textContent`, run)
		p.Want(`document.querySelector(".m.chosen a").hash`, "#"+id)
		p.Want(`[...new Set([...document.querySelectorAll(".on .chosen b")].map((b) => b.textContent))]`, run)
		p.Want(`document.activeElement.querySelectorAll(".on").length - document.querySelectorAll(".on .chosen").length`, "0")
	}
}

// Where runs differ, the truth table of the run is marked. A failed cell leads to the case
// that failed.
func TestDriveMatrixLeadsToTheFailure(t *testing.T) {
	t.Parallel()
	skipSlowPage(t)
	runs := someRuns()
	runs[1].Cases[0], runs[1].Cases[1] = runs[1].Cases[1], runs[1].Cases[0]
	p := browsertest.Open(t, published(t, runs...))
	p.Click(`.m.failed a[href="#path_1.40.0"]`)
	p.Want(`document.querySelector("#path_1\\.40\\.0").closest(".case").id`, "a-prefix-ends-at-a-segment")
	p.Want(`[...document.querySelectorAll("#a-prefix-ends-at-a-segment .group.chosen caption")].map((c) => c.textContent)`, "Who may do what, on 1.40.0")
	p.Click(`.m a[href="#in-common_1.38.3"]`)
	p.Want(`document.querySelectorAll(".group.chosen").length`, "0")
	p.Want(`Math.abs(document.querySelector("#in-common").getBoundingClientRect().top) < 100 || scrollY + innerHeight >= document.body.scrollHeight - 50`, "true")
}

func TestDriveFilter(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t, published(t, someRuns()...))
	p.Press(browsertest.Slash)
	p.Want(`document.activeElement.id + document.activeElement.value`, "filter")
	p.Type("path.yaml")
	p.Want(shownCases, "2 of 6 cases")
	p.Want(fragment, "#q=path.yaml")
	p.Press(browsertest.Slash) // it is a letter there
	p.Want(shownCases, "0 of 6 cases")
	p.Press(browsertest.Escape)
	p.Want(shownCases, "6 cases")
	p.Want(fragment, "")
	p.Type("gone")
	p.Want(shownCases, "0 of 6 cases")
	p.Eval(`document.activeElement.blur()`)
	p.Press(browsertest.Slash) // what stood there is typed over
	p.Type("prefix")
	p.Want(shownCases, "1 of 6 cases")
	// Chromium empties the box itself; in other browsers the page does it.
	p.Eval(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }))`)
	p.Want(shownCases, "6 cases")
	p.Type("path.yaml DOT")
	p.Press(browsertest.Enter) // nothing is sent anywhere
	p.Want(fragment, "#q=path.yaml+DOT")
	p.Want(`document.querySelectorAll("#times tbody tr:not([hidden])").length`, "1")
	p.Want(`[...document.querySelectorAll(".matrix tr[data-story]:not([hidden])")].map((tr) => tr.dataset.story)`, "path")
	p.Click("#only")
	p.Want(fragment, "#q=path.yaml+DOT&only=1")
	p.Reload()
	p.Want(shownCases, "1 of 6 cases")
	p.Want(`document.querySelector("#only").checked`, "true")
}

// The filter stays when a case is opened, and when the page is loaded again.
func TestDriveFilterStays(t *testing.T) {
	t.Parallel()
	skipSlowPage(t)
	text := page(t, someRuns()...)
	leak := anchor(t, text, "a-prefix-ends-at-a-segment", "allow, not as wanted, not the same on all runs")
	p := browsertest.Open(t, address(t, text)+"#q=prefix")
	p.Click(`.m a[href="#path_1.38.3"]`)
	p.Want(fragment, "#q=prefix&at=path_1.38.3")
	p.Want(shownCases+` + " " + `+openCases, "1 of 6 cases 1")
	p.Click(`.truth a[href="#` + leak + `"]`)
	p.Want(fragment, "#q=prefix&at="+leak)
	p.Reload()
	p.Want(shownCases, "1 of 6 cases")
	p.Want(`document.querySelector("tr.shown b.wrong").textContent`, "allow")
	p.Eval(`history.back()`)
	p.Want(fragment, "#q=prefix")
	p.Click(`#failed a[href="#twelve-tags"]`) // the filter hides it: it is shown all the same
	p.Want(shownCases+` + " " + `+fragment, "6 cases #twelve-tags")
	p.Want(`document.querySelector("#twelve-tags").open`, "true")
}

func TestDriveEvidence(t *testing.T) {
	t.Parallel()
	skipSlowPage(t)
	text := page(t, someRuns()...)
	id := anchor(t, text, "everybody-agrees", "allow")
	cell := `.truth a[href="#` + id + `"]`
	state := fmt.Sprintf(`((a) => a.getAttribute("aria-expanded") + " " + (document.getElementById(a.getAttribute("aria-controls"))?.querySelector("dl").textContent ?? "no row"))(document.querySelector(%q))`, cell)
	p := browsertest.Open(t, address(t, text))
	p.Click("#everybody-agrees summary")
	p.Want(state, "false no row")
	p.Click(cell)
	p.Want(state, "true callerHTTP 200upstreamGET /, 0 bytes, XFCC By=spiffe://trust-domain.mesh/backend;URI=spiffe://trust-domain.mesh/ns/web/sa/weblogvia_upstream")
	p.Want(fragment, "#"+id)
	p.Click(cell)
	p.Want(state, "false no row")
	p.Want(fragment, "")
	p.Eval(`document.querySelector("#everybody-agrees .truth a").focus()`)
	p.Press(browsertest.Enter)
	p.Want(`document.querySelectorAll("tr.shown").length`, "1")
}

// A link works a second time, and its address works in a new tab.
func TestDriveLinks(t *testing.T) {
	t.Parallel()
	skipSlowPage(t)
	p := browsertest.Open(t, published(t, someRuns()...))
	p.Click(`#failed a[href="#a-prefix-ends-at-a-segment"]`)
	p.Want(`document.querySelector("#a-prefix-ends-at-a-segment").open`, "true")
	p.Click("#a-prefix-ends-at-a-segment summary")
	p.Want(openCases, "0")
	p.Click(`#failed a[href="#a-prefix-ends-at-a-segment"]`)
	p.Want(`document.querySelector("#a-prefix-ends-at-a-segment").open`, "true")
	p.Eval(`location.hash = "#q=only+here"`)
	p.Want(shownCases, "1 of 6 cases")
	p.Eval(`location.hash = ""`)
	p.Want(shownCases, "6 cases")
	p.Click(`nav a[href="#times"]`)
	p.Want(`document.querySelector("#times").checkVisibility()`, "true")
	p.Click(`#times a[href="#twelve-tags"]`)
	p.Want(`document.querySelector("#twelve-tags").open`, "true")
}

func TestDriveOpenAll(t *testing.T) {
	t.Parallel()
	skipSlowPage(t)
	p := browsertest.Open(t, published(t, someRuns()...)+"#q=path.yaml")
	p.Eval(`document.querySelector("#open").focus()`)
	p.Press(browsertest.Enter)
	p.Want(openCases, "2")
	p.Press(browsertest.Tab)
	p.Want(`document.activeElement.id`, "close")
	p.Press(browsertest.Enter)
	p.Want(openCases, "0")
}

// Printing opens the truth tables of the cases that the filter shows, and closes them again.
func TestDrivePrint(t *testing.T) {
	t.Parallel()
	skipSlowPage(t)
	p := browsertest.Open(t, published(t, someRuns()...)+"#q=path.yaml")
	p.Click("#a-dot-segment-is-resolved summary")
	p.Eval(`addEventListener("beforeprint", () => { window.printed = [...document.querySelectorAll(".case")].filter((c) => c.open && c.querySelector(".truth")?.checkVisibility()).length; })`)
	some := p.Print()
	p.Want(`window.printed`, "2")
	p.Want(openCases, "1")
	p.Eval(`location.hash = "#q="`)
	p.Want(shownCases, "6 cases")
	all := p.Print()
	p.Want(`[...document.querySelectorAll(".case[open]")].map((c) => c.id)`, "a-dot-segment-is-resolved")
	for _, printed := range [][]byte{some, all} {
		if !bytes.HasPrefix(printed, []byte("%PDF-")) {
			t.Fatalf("this is no printed page: %.40q", printed)
		}
	}
	if len(all) <= len(some) {
		t.Errorf("6 cases are %d bytes, 2 are %d: they are not printed", len(all), len(some))
	}
}
