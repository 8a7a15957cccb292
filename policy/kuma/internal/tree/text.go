package tree

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// String returns the tree as text, with one line for each node. Below each question are
// its two ways, and at the end are the conditions.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b, "")
	for i, g := range n.asked() {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s, of %s: %s\n", g, g.Action, g.Condition())
	}
	return b.String()
}

// write writes the node behind what is on the line already. The lines below it begin
// with the indent.
func (n *Node) write(b *strings.Builder, indent string) {
	b.WriteString(n.label())
	b.WriteByte('\n')
	if n.Leaf() {
		return
	}
	b.WriteString(indent + "├─ yes  ")
	n.Yes.write(b, indent+"│       ")
	b.WriteString(indent + "└─ no   ")
	n.No.write(b, indent+"        ")
}

// String returns the name of the group's condition.
func (g *Group) String() string { return fmt.Sprintf("condition_%d", g.Number) }

// label is the text of a node: its question, or its answer with the merged actions.
func (n *Node) label() string {
	switch {
	case !n.Leaf():
		return n.Ask.String() + " ?"
	case n.Settled:
		return n.answer()
	}
	return n.merge() + " = " + n.answer()
}

func (n *Node) merge() string {
	names := make([]string, len(n.Met))
	for i, g := range n.Met {
		names[i] = g.Action.String()
	}
	return "merge(" + strings.Join(names, ", ") + ")"
}

func (n *Node) answer() string {
	if n.Action == Nothing {
		return "Deny by default"
	}
	return n.Action.String()
}

// The measures of the drawing, in pixels.
const (
	boxWidth    = 196
	boxHeight   = 46
	columnWidth = boxWidth + 20
	rowHeight   = boxHeight + 48
	margin      = 24
	lineHeight  = 18
	// legendWidth is about what legendChars characters take.
	legendWidth = 760
	legendChars = 108
	// legendLines bounds what is printed of one condition.
	legendLines = 12
)

const style = `
text { font: 13px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; }
.small { font-size: 11px; fill: #59636e; }
.code { font: 12px ui-monospace, monospace; }
.way { fill: none; stroke: #818b98; stroke-width: 1.5; }
rect { stroke-width: 1.5; }
.page { fill: #ffffff; }
.ask { fill: #f6f8fa; stroke: #818b98; }
.allow { fill: #dafbe1; stroke: #1a7f37; }
.shadow { fill: #fff8c5; stroke: #9a6700; }
.deny { fill: #ffebe9; stroke: #cf222e; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .small { fill: #9198a1; }
  .page { fill: #0d1117; }
  .ask { fill: #212830; stroke: #656c76; }
  .allow { fill: #12261e; stroke: #3fb950; }
  .shadow { fill: #272115; stroke: #d29922; }
  .deny { fill: #25171c; stroke: #f85149; }
}
`

// SVG returns the tree as a drawing that needs no other file: no script, no font and no
// style sheet. It follows the reader's light or dark colour scheme. The title is any
// text. A long condition is cut off and ends in "…".
func (n *Node) SVG(title string) string {
	d := drawing{}
	root := d.place(n, 0)
	legend := n.legend()
	width := max(d.columns*columnWidth-(columnWidth-boxWidth), legendWidth) + 2*margin
	top := 2*margin + lineHeight
	bottom := top + d.rows*rowHeight - (rowHeight - boxHeight) + margin
	height := bottom + len(legend)*lineHeight + margin

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n", html.EscapeString(title), style)
	b.WriteString(`<rect class="page" width="100%" height="100%"/>` + "\n")
	fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+lineHeight/2, html.EscapeString(title))
	root.draw(&b, top)
	for i, line := range legend {
		fmt.Fprintf(&b, `<text class="code" x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", margin, bottom+(i+1)*lineHeight, html.EscapeString(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// legend lists the conditions of each group, one on each line.
func (n *Node) legend() []string {
	var out []string
	for _, g := range n.asked() {
		out = append(out, fmt.Sprintf("%s, of %s:", g, g.Action))
		for i, c := range g.When {
			if i == legendLines {
				out = append(out, fmt.Sprintf("  … and %d more", len(g.When)-i))
				break
			}
			word := "   "
			if i > 0 {
				word = "or "
			}
			out = append(out, "  "+word+shorten(c.String()))
		}
	}
	return out
}

func shorten(s string) string {
	if runes := []rune(s); len(runes) > legendChars {
		return string(runes[:legendChars]) + "…"
	}
	return s
}

// drawing gives each leaf a column and each node a row.
type drawing struct{ columns, rows int }

// placed is a node with the middle of its box and its row.
type placed struct {
	node    *Node
	x, row  int
	yes, no *placed
}

func (d *drawing) place(n *Node, row int) *placed {
	d.rows = max(d.rows, row+1)
	p := &placed{node: n, row: row}
	if n.Leaf() {
		p.x = margin + d.columns*columnWidth + boxWidth/2
		d.columns++
		return p
	}
	p.yes, p.no = d.place(n.Yes, row+1), d.place(n.No, row+1)
	p.x = (p.yes.x + p.no.x) / 2
	return p
}

func (p *placed) draw(b *strings.Builder, top int) {
	y := top + p.row*rowHeight
	for _, way := range []struct {
		child *placed
		name  string
	}{{p.yes, "yes"}, {p.no, "no"}} {
		if way.child == nil {
			continue
		}
		from, to := y+boxHeight, y+rowHeight
		middle := (from + to) / 2
		fmt.Fprintf(b, `<path class="way" d="M%d %dV%dH%dV%d"/>`+"\n", p.x, from, middle, way.child.x, to)
		fmt.Fprintf(b, `<text class="small" x="%d" y="%d">%s</text>`+"\n", way.child.x+6, to-8, way.name)
		way.child.draw(b, top)
	}
	heading, below := p.node.label(), ""
	if p.node.Leaf() {
		heading = p.node.answer()
		if !p.node.Settled {
			below = p.node.met()
		}
	} else {
		below = p.node.Ask.Action.String()
	}
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", p.node.class(), p.x-boxWidth/2, y, boxWidth, boxHeight)
	baseline := y + 20
	if below == "" {
		baseline = y + 28
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", p.x, baseline, heading)
	if below != "" {
		fmt.Fprintf(b, `<text class="small" x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", p.x, y+37, below)
	}
}

// met lists the conditions that were met on the way to a leaf. A box has no room for
// their actions.
func (n *Node) met() string {
	if len(n.Met) == 0 {
		return "no condition met"
	}
	numbers := make([]string, len(n.Met))
	for i, g := range n.Met {
		numbers[i] = strconv.Itoa(g.Number)
	}
	return "conditions met: " + strings.Join(numbers, ", ")
}

// class is the style of the node's box.
func (n *Node) class() string {
	switch {
	case !n.Leaf():
		return "ask"
	case n.Action == Allow:
		return "allow"
	case n.Action == AllowWithShadowDeny:
		return "shadow"
	default:
		return "deny"
	}
}
