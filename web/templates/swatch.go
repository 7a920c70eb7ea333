package templates

import (
	"strconv"

	"shardboard/internal/answer"
)

// Swatch is how a shard is drawn: one of 12 colours, and from the 13th shard on a pattern over it. The zero Swatch is
// that of no shard.
type Swatch struct {
	Color   int // 1..12; 0 for a shard that the table does not list
	Pattern int // place/12: 0 for the first 12 shards, which have no pattern
}

// swatchAt is the swatch of a place in the list of shards.
func swatchAt(place int) Swatch {
	return Swatch{Color: place%answer.PaletteSize + 1, Pattern: place / answer.PaletteSize}
}

// Class is the value of the class attribute: s1 to s12, and p1 to p8 for those with a pattern. Patterns repeat after
// the 108th shard; the label still tells those apart.
func (s Swatch) Class() string {
	if s.Color < 1 || s.Color > answer.PaletteSize {
		return "s0"
	}
	class := "s" + strconv.Itoa(s.Color)
	if s.Pattern > 0 {
		class += " p" + strconv.Itoa(s.patternNumber())
	}
	return class
}

// patternNumber is the place of the drawn pattern in patterns, counted from 1.
func (s Swatch) patternNumber() int { return (s.Pattern-1)%len(patterns) + 1 }

// id is the name of the SVG pattern that shard_patterns.css fills with: p1s12.
func (s Swatch) id() string {
	return "p" + strconv.Itoa(s.patternNumber()) + "s" + strconv.Itoa(s.Color)
}

// tileID is the name of what a pattern draws, in the colours of its shard.
func tileID(number int) string { return "p" + strconv.Itoa(number) }

// pattern is drawn over the colour, in tiles of 8 × 8 pixels.
type pattern struct {
	lines string // path data
	width string // of the stroke
	round bool   // round ends, which make dots of lines without length
}

// patterns in the order of use: neighbours in the list differ in direction, not in density alone. shard_patterns.css
// draws the same on labels.
var patterns = []pattern{
	{lines: "M-2 2l4-4M0 8l8-8M6 10l4-4", width: "2"},           // p1 rising stripes
	{lines: "M2 2h0M6 6h0", width: "3.4", round: true},          // p2 dots
	{lines: "M-2 6l4 4M0 0l8 8M6-2l4 4", width: "2"},            // p3 falling stripes
	{lines: "M0 4h8", width: "3"},                               // p4 horizontal stripes
	{lines: "M4 0v8", width: "3"},                               // p5 vertical stripes
	{lines: "M0 2h4M4 6h4", width: "4"},                         // p6 squares
	{lines: "M0 4h8M4 0v8", width: "1.6"},                       // p7 grid
	{lines: "M-2 2l4-4M0 8l8-8M6 10l4-4M0 0l8 8", width: "1.4"}, // p8 diamonds
}

// patterned are the swatches that need a pattern on the page: one for each, so that a cluster of 12 shards has none.
func patterned(shards []ShardRef) (out []Swatch) {
	seen := map[string]bool{}
	for _, s := range shards {
		if s.Pattern > 0 && !seen[s.id()] {
			seen[s.id()] = true
			out = append(out, s.Swatch)
		}
	}
	return out
}

func (p pattern) ends() string {
	if p.round {
		return "round"
	}
	return "butt"
}
