package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// prompt asks a person at a terminal.
type prompt struct {
	ctx   context.Context
	out   io.Writer
	lines <-chan string // closed at the end of the input
}

// newPrompt reads lines in the background, so that Ctrl-C ends a question. The reader stays behind until
// the program ends: a read of a terminal cannot be called off.
func newPrompt(ctx context.Context, in io.Reader, out io.Writer) prompt {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return prompt{ctx: ctx, out: out, lines: lines}
}

// answered waits for what a person types, or for Ctrl-C. A read of a terminal cannot be called off: it stays behind
// until the program ends.
func answered[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type reply struct {
		answer T
		err    error
	}
	replies := make(chan reply, 1)
	go func() {
		answer, err := read()
		replies <- reply{answer, err}
	}()
	select {
	case r := <-replies:
		return r.answer, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

var errLeft = errors.New("the person left")

// line is the next line, without spaces around it.
func (p prompt) line() (string, error) {
	fmt.Fprint(p.out, "> ")
	select {
	case text, ok := <-p.lines:
		if ok && p.ctx.Err() == nil {
			return strings.TrimSpace(text), nil
		}
	case <-p.ctx.Done():
	}
	fmt.Fprintln(p.out)
	return "", fault.Wrap(fault.Conflict, cmp.Or(p.ctx.Err(), errLeft), "Nothing was planned.")
}

// promptChoices is how many choices are listed; others can be typed.
const promptChoices = 30

// wanted is one question.
type wanted struct {
	label, help string
	choices     []candidate
	only        bool   // no other value than a choice
	omit        string // what an empty answer means; "" if there must be an answer
	check       func(string) error
}

// answer asks until the answer is right. It is empty if the question may be left out and was.
func (p prompt) answer(q wanted) (string, error) {
	fmt.Fprintln(p.out)
	line(p.out, "%s", q.label)
	if q.help != "" {
		line(p.out, "  %s", q.help)
	}
	width := 0
	for _, c := range q.choices {
		width = max(width, cells(clean(c.value)))
	}
	for i, c := range q.choices[:min(len(q.choices), promptChoices)] {
		value := clean(c.value)
		if c.text != "" {
			value += strings.Repeat(" ", width-cells(value)+columnGap)
		}
		line(p.out, "  %2d  %s%s", i+1, value, c.text)
	}
	if more := len(q.choices) - promptChoices; more > 0 {
		line(p.out, "      and %d more, which can be typed", more)
	}
	if q.omit != "" {
		line(p.out, "  Enter: %s", q.omit)
	}
	for {
		text, err := p.line()
		if err != nil {
			return "", err
		}
		value, err := q.value(text)
		if err == nil {
			return value, nil
		}
		line(p.out, "%s", message(err))
	}
}

// value is the answer that a text gives, or why it is none.
func (q wanted) value(text string) (string, error) {
	if text == "" {
		if q.omit == "" {
			return "", fault.New(fault.Invalid, "An answer is needed. Ctrl-C ends without planning anything.")
		}
		return "", nil
	}
	listed := false
	for _, c := range q.choices {
		listed = listed || c.value == text
	}
	if n, err := strconv.Atoi(text); err == nil && !listed && n >= 1 && n <= min(len(q.choices), promptChoices) {
		return q.choices[n-1].value, nil
	}
	if q.only && !listed {
		return "", fault.New(fault.Invalid, "There is no %q here: choose by number or by name.", sanitize.Truncate(text, 60))
	}
	if q.check != nil {
		return text, q.check(text)
	}
	return text, nil
}
