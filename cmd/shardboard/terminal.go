package main

import (
	"io"
	"os"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// terminal is what the output is written to.
type terminal struct {
	tty           bool
	width, height int // cells; 0 without a terminal
	bold          bool
}

// terminalOf looks at the standard output and the environment.
func terminalOf(stdout io.Writer) terminal {
	f, ok := stdout.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return terminal{}
	}
	out := terminal{tty: true, width: 80, height: 24, bold: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		out.width, out.height = width, height
	}
	return out
}

// cells is how wide a text is in a terminal: East Asian characters and emoji take two.
func cells(text string) int { return uniseg.StringWidth(text) }

// shorten cuts the middle of a text that is wider than so many cells: neighbouring keys differ at their ends.
func shorten(text string, width int) string {
	if cells(text) <= width {
		return text
	}
	if width <= 1 {
		return strings.Repeat("…", width)
	}
	var parts []string
	for rest, state := text, -1; rest != ""; {
		var part string
		part, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		parts = append(parts, part)
	}
	head, tail := "", ""
	for i, j := 0, len(parts)-1; i <= j; {
		fits := func(part string) bool { return cells(head)+cells(tail)+cells(part)+1 <= width }
		if cells(head) <= cells(tail) {
			if !fits(parts[i]) {
				break
			}
			head += parts[i]
			i++
		} else {
			if !fits(parts[j]) {
				break
			}
			tail = parts[j] + tail
			j--
		}
	}
	return head + "…" + tail
}
