package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// The measures of the picture in pixels. All arithmetic is in integers, so that every
// machine draws the same picture.
const (
	nameLetter  = 7
	smallLetter = 6
	lineHeight  = 13
	nameHeight  = 20
	boxHeight   = nameHeight + guaranteeLines*lineHeight + 6
	boxPadding  = 8
	// space is the least distance of two neighbours on a floor.
	space = 14
	// spread is the first distance of two neighbours.
	spread      = 100
	floorHeight = boxHeight + 40
	margin      = 12
)

// What a room guarantees has to fit into its box.
const (
	guaranteeLines   = 3
	guaranteeLetters = 30
)

const style = `
text { font: bold 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }
.small { font: 10.5px ui-sans-serif, system-ui, sans-serif; fill: #59636e; }
.page { fill: #ffffff; }
.box { fill: #f6f8fa; stroke: #818b98; }
.public { fill: #ddf4ff; stroke: #0969da; }
.arrow { fill: none; stroke: #818b98; }
.head { fill: #818b98; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .small { fill: #9198a1; }
  .page { fill: #0d1117; }
  .box { fill: #212830; stroke: #656c76; }
  .public { fill: #121d2f; stroke: #388bfd; }
}
`

// spot is a place on a floor: a room, or a point where an arrow passes the floor.
type spot struct {
	room  *room
	width int
	// x is the middle.
	x, floor int
	// higher and lower are the spots on the next floors that an arrow joins with this one.
	higher, lower []*spot
}

// drawing is the spots of each floor from left to right, the lowest floor first.
type drawing [][]*spot

// picture draws the house as an SVG image that needs no other file.
func (h *house) picture() string {
	d := h.place()
	width := 0
	for _, floor := range d {
		for _, s := range floor {
			width = max(width, s.x+s.width/2+margin)
		}
	}
	height := 2*margin + boxHeight + (len(d)-1)*floorHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>The rooms of meshproof; an arrow leads to a room that is imported</title>\n<style>%s</style>\n", style)
	b.WriteString(`<rect class="page" width="100%" height="100%"/>` + "\n")
	b.WriteString(`<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker>` + "\n")
	top := func(floor int) int { return margin + (len(d)-1-floor)*floorHeight }
	for _, floor := range d {
		for _, s := range floor {
			if s.room != nil {
				for _, down := range s.lower {
					drawArrow(&b, s, down, top)
				}
			}
		}
	}
	for _, floor := range d {
		for _, s := range floor {
			if s.room != nil {
				drawBox(&b, s, top(s.floor))
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawArrow draws one arrow down to its room, through the points on the floors between.
func drawArrow(b *strings.Builder, from, to *spot, top func(int) int) {
	fmt.Fprintf(b, `<path class="arrow" d="M%d %d`, from.x, top(from.floor)+boxHeight)
	for above := from; ; above, to = to, to.lower[0] {
		start, end := top(above.floor)+boxHeight, top(to.floor)
		middle := (start + end) / 2
		fmt.Fprintf(b, "C%d %d %d %d %d %d", above.x, middle, to.x, middle, to.x, end)
		if to.room != nil {
			break
		}
		fmt.Fprintf(b, "V%d", end+boxHeight)
	}
	b.WriteString(`" marker-end="url(#head)"/>` + "\n")
}

func drawBox(b *strings.Builder, s *spot, top int) {
	class := "public"
	if strings.HasPrefix(s.room.name, "internal/") {
		class = "box"
	}
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="5"/><text x="%d" y="%d">%s</text>`+"\n",
		class, s.x-s.width/2, top, s.width, boxHeight, s.x, top+nameHeight-4, html.EscapeString(label(s.room)))
	for i, line := range wrap(s.room.guarantee) {
		fmt.Fprintf(b, `<text class="small" x="%d" y="%d">%s</text>`+"\n", s.x, top+nameHeight+(i+1)*lineHeight-3, html.EscapeString(line))
	}
}

// boxWidth is the width of a room's box.
func boxWidth(r *room) int {
	width := nameLetter * len(label(r))
	for _, line := range wrap(r.guarantee) {
		width = max(width, smallLetter*len(line))
	}
	return width + 2*boxPadding
}

// wrap breaks a text into lines.
func wrap(text string) (lines []string) {
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && len(lines[last])+1+len(word) <= guaranteeLetters {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// label is the name in a box: the colour says that a room is internal.
func label(r *room) string { return strings.TrimPrefix(r.name, "internal/") }

// place gives every room and every passing arrow its spot.
func (h *house) place() drawing {
	d := make(drawing, len(h.floors()))
	spots := map[*room]*spot{}
	for _, r := range h.rooms {
		s := &spot{room: r, width: boxWidth(r), floor: r.floor}
		spots[r] = s
		d[r.floor] = append(d[r.floor], s)
	}
	for _, r := range h.rooms {
		for _, below := range r.arrows() {
			above := spots[r]
			for floor := r.floor - 1; floor > below.floor; floor-- {
				point := &spot{floor: floor}
				d[floor] = append(d[floor], point)
				join(above, point)
				above = point
			}
			join(above, spots[below])
		}
	}
	d.arrange()
	return d
}

func join(above, below *spot) {
	above.lower, below.higher = append(above.lower, below), append(below.higher, above)
}

// arrange moves the spots so that few arrows cross: a spot stands where its neighbours on
// the next floors stand on average, in turns below and above.
func (d drawing) arrange() {
	for _, floor := range d {
		for i, s := range floor {
			s.x = i * spread
		}
	}
	for round := range 64 {
		for i := range d {
			floor, neighbours := d[i], func(s *spot) []*spot { return s.lower }
			switch {
			case round >= 48:
				neighbours = func(s *spot) []*spot { return slices.Concat(s.higher, s.lower) }
			case round%2 == 1:
				floor, neighbours = d[len(d)-1-i], func(s *spot) []*spot { return s.higher }
			}
			for _, s := range floor {
				s.x = average(s, neighbours(s))
			}
			slices.SortStableFunc(floor, func(a, b *spot) int { return a.x - b.x })
			separate(floor)
		}
	}
	left := d[0][0].x
	for _, floor := range d {
		left = min(left, floor[0].x-floor[0].width/2)
	}
	for _, floor := range d {
		for _, s := range floor {
			s.x += margin - left
		}
	}
}

// average is the mean place of the neighbours, or the spot's own place without any.
func average(s *spot, neighbours []*spot) int {
	if len(neighbours) == 0 {
		return s.x
	}
	sum := 0
	for _, n := range neighbours {
		sum += n.x
	}
	return sum / len(neighbours)
}

// separate moves the spots of a floor apart until none touches its neighbour: half of the
// way to the right, and half of it to the left.
func separate(floor []*spot) {
	right, left := make([]int, len(floor)), make([]int, len(floor))
	for i, s := range floor {
		right[i] = s.x
		if i > 0 {
			right[i] = max(s.x, right[i-1]+distance(floor[i-1], s))
		}
	}
	for i, s := range slices.Backward(floor) {
		left[i] = s.x
		if i < len(floor)-1 {
			left[i] = min(s.x, left[i+1]-distance(s, floor[i+1]))
		}
	}
	for i, s := range floor {
		s.x = (right[i] + left[i]) / 2
	}
}

func distance(a, b *spot) int { return (a.width+b.width)/2 + space }
