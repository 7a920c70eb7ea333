package main

import (
	"io"
	"slices"
	"strings"
)

// textTable writes rows below a header. The first rows decide how wide the columns are, so that a long
// list is written as it comes. In a terminal the widest texts are cut, and columns that still do not fit are
// left out from the right, where the less important ones are; a pipe gets everything.
type textTable struct {
	w       io.Writer
	out     terminal
	header  []string
	numbers []bool
	whole   bool // never cut

	widths []int // of the columns that are shown; nil before the first rows
}

const (
	columnGap   = 2
	leastColumn = 24 // cells that a text keeps: as many as an id; rather is a column left out
	// A sentence keeps more where columns follow that can be left out for it.
	leastSentence = 60
)

// sentences are the headers of columns that have whole sentences.
var sentences = []string{"TITLE", "SUMMARY", "MEANING", "WORST"}

func (t *textTable) write(rows [][]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = clean(row[i])
		}
	}
	var b strings.Builder
	if t.widths == nil {
		t.fit(rows)
		if t.out.bold {
			b.WriteString("\x1b[1m")
		}
		t.line(&b, t.header)
		if t.out.bold {
			text := strings.TrimSuffix(b.String(), "\n")
			b.Reset()
			b.WriteString(text + "\x1b[0m\n")
		}
	}
	for _, row := range rows {
		t.line(&b, row)
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

// fit chooses the widths.
func (t *textTable) fit(rows [][]string) {
	t.widths = make([]int, len(t.header))
	for i, text := range t.header {
		t.widths[i] = cells(text)
		for _, row := range rows {
			t.widths[i] = max(t.widths[i], cells(row[i]))
		}
	}
	if !t.out.tty || t.whole {
		return
	}
	natural := slices.Clone(t.widths)
	for t.total() > t.out.width {
		if i := t.widest(); i >= 0 {
			t.widths[i]--
			continue
		}
		if len(t.widths) == 1 {
			t.widths[0] = max(t.out.width, 1)
			return
		}
		t.widths = slices.Clone(natural[:len(t.widths)-1]) // what was cut for the column may be wider again
	}
}

func (t *textTable) total() int {
	sum := columnGap * (len(t.widths) - 1)
	for _, width := range t.widths {
		sum += width
	}
	return sum
}

// bound is how far a column may be cut. Numbers are never cut: a part of one is another number.
func (t *textTable) bound(i int) int {
	least := leastColumn
	if i+1 < len(t.widths) && slices.Contains(sentences, t.header[i]) {
		least = leastSentence
	}
	return max(least, cells(t.header[i]))
}

// widest is the column to cut next; -1 if none can be.
func (t *textTable) widest() int {
	best := -1
	for i, width := range t.widths {
		if !t.numbers[i] && width > t.bound(i) && (best < 0 || width > t.widths[best]) {
			best = i
		}
	}
	return best
}

// leftOut are the headers of the columns that are not shown.
func (t *textTable) leftOut() []string {
	if t.widths == nil {
		return nil
	}
	return slices.Clone(t.header[len(t.widths):])
}

func (t *textTable) line(b *strings.Builder, row []string) {
	var line strings.Builder
	for i, width := range t.widths {
		text := row[i]
		if t.out.tty && !t.whole && !t.numbers[i] {
			text = shorten(text, width)
		}
		space := strings.Repeat(" ", max(0, width-cells(text)))
		if i > 0 {
			line.WriteString(strings.Repeat(" ", columnGap))
		}
		if t.numbers[i] {
			line.WriteString(space + text)
		} else {
			line.WriteString(text + space)
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}
