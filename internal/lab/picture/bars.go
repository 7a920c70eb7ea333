// Package picture draws what the lab computes as SVG. A picture is a file of its own, on white paper; on a page the
// style sheet gives its parts the colours of the page, light or dark.
package picture

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Bars are columns, each stacked of one part for each series. Series have the colours of shards, in their order; from
// the 13th on they come again.
type Bars struct {
	Title  string // what is shown, for people who do not see it
	X, Y   string // names of the axes
	Series []string
	Column []string // name of each column
	Value  [][]int  // by column and series
	Each   int      // what one column counts for on the X axis; 0 is 1
	Beside bool     // the parts of a column stand beside each other
	Names  bool     // the names of the columns stand below, by their numbers
}

// colors are those of shards in static/css/theme.css, on light paper.
var colors = [...]string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c510a", "#ddcc77", "#882255", "#44aa99", "#332288",
	"#999933", "#7f7f88"}

// mostNames is how many names of columns stand below a picture.
const mostNames = 64

// Measures of the drawing, in units of which it is 720 wide.
const (
	width, height            = 720, 260
	left, right, top, bottom = 44, 8, 10, 40
	legendColumn, legendRow  = 88, 16
	legendColumns            = (width - left - right) / legendColumn
)

// SVG is the picture.
func (b Bars) SVG() string {
	most := 1
	for _, column := range b.Value {
		sum := 0
		for _, n := range column {
			if b.Beside {
				sum = max(sum, n)
			} else {
				sum += n
			}
		}
		most = max(most, sum)
	}
	rows := (len(b.Series) + legendColumns - 1) / legendColumns
	names := 0
	if b.Names {
		names = min(len(b.Column), mostNames)
	}
	whole := height + (rows+names)*legendRow
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" class="lab-picture" font-family="sans-serif" `+
		`font-size="11"><title>%s</title>`, width, whole, escaped(b.Title))
	fmt.Fprintf(&out, `<rect class="paper" width="%d" height="%d" fill="#fff"/>`, width, whole)
	for _, part := range []int{0, 1, 2} {
		y := float64(top) + float64(height-top-bottom)*float64(2-part)/2
		fmt.Fprintf(&out, `<path class="grid" d="M%d %.1fH%d" stroke="#cfcfd6"/>`, left, y, width-right)
		if n := most * part; n%2 == 0 {
			text(&out, left-6, y+4, "end", fmt.Sprint(n/2))
		}
	}
	b.drawColumns(&out, most)
	text(&out, left, height-6, "start", b.X+" →")
	fmt.Fprintf(&out, `<text class="label" transform="translate(12 %d) rotate(-90)" text-anchor="middle" fill="#585b66">%s</text>`,
		top+(height-top-bottom)/2, escaped(b.Y))
	for i, name := range b.Series {
		x, y := left+i%legendColumns*legendColumn, height+i/legendColumns*legendRow
		fmt.Fprintf(&out, `<g class="key"><rect class="%s" x="%d" y="%d" width="10" height="10" fill="%s"/>`, class(i), x, y,
			colors[i%len(colors)])
		text(&out, x+14, float64(y+9), "start", name)
		out.WriteString("</g>")
	}
	for i := range names {
		text(&out, left, float64(height+(rows+i)*legendRow+9), "start", fmt.Sprintf("%d: %s", i+1, b.Column[i]))
	}
	out.WriteString("</svg>\n")
	return out.String()
}

func (b Bars) drawColumns(out *strings.Builder, most int) {
	if len(b.Value) == 0 {
		return
	}
	step := float64(width-left-right) / float64(len(b.Value))
	gap := min(step/5, 4)
	every := (len(b.Value) + 25) / 26 // names that fit beside each other
	for i, column := range b.Value {
		x, y := left+float64(i)*step, float64(height-bottom)
		for s, n := range column {
			if n == 0 {
				continue
			}
			h := float64(n) / float64(most) * float64(height-top-bottom)
			x, wide := x, max(step-gap, 0.5)
			if b.Beside {
				wide /= float64(len(column))
				x, y = x+float64(s)*wide, float64(height-bottom)
			}
			y -= h
			fmt.Fprintf(out, `<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"><title>%s, %s: %d</title></rect>`,
				class(s), x, y, wide, h, colors[s%len(colors)], escaped(b.Column[i]), escaped(b.Series[s]), n)
		}
		if i%every == 0 {
			text(out, int(x+(step-gap)/2), height-bottom+14, "middle", fmt.Sprint(i*max(b.Each, 1)+1))
		}
	}
}

func class(series int) string { return fmt.Sprintf("s%d", series%len(colors)+1) }

func text(out *strings.Builder, x int, y float64, anchor, words string) {
	fmt.Fprintf(out, `<text class="label" x="%d" y="%.1f" text-anchor="%s" fill="#585b66">%s</text>`, x, y, anchor, escaped(words))
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}
