package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"shardboard/internal/format"
)

// screen shows an answer of --watch in a terminal, over the one before, with how old it is.
type screen struct {
	*env
	query query
	every time.Duration
	now   func() time.Time

	list        *listPage // the newest answer, if it is a list
	text        []byte    // if it is an object
	since, lost time.Time // when it changed, and since when there is none; zero: there is
	drawn       string
	drawnOn     terminal
}

// fder is a file, which may be a terminal.
type fder interface{ Fd() uintptr }

func (s *screen) changed(list *listPage, text []byte) error {
	s.list, s.text, s.since = list, text, s.now()
	return nil
}

// waits draws what is different by now: ages grow, and a window can have another size.
func (s *screen) waits(why string) error {
	if _, real := s.stdout.(fder); real {
		s.out = terminalOf(s.stdout)
	}
	switch {
	case why == "":
		s.lost = time.Time{}
	case s.lost.IsZero():
		s.lost = s.now()
	}
	var rows []string
	for _, text := range s.heading(why) {
		rows = append(rows, shorten(clean(text), s.out.width))
	}
	body, err := s.body()
	if err != nil {
		return err
	}
	rows = append(rows, body...)
	if most := s.out.height - 1; len(rows) > most && most > 1 {
		left := len(rows) - most + 1
		rows = append(rows[:most-1], fmt.Sprintf("… and %d more lines: the window is too small.", left))
	}
	text := "\x1b[H" + strings.Join(rows, "\x1b[K\n") + "\x1b[K\n\x1b[J"
	if s.drawnOn != s.out {
		text = "\x1b[2J" + text
	} else if text == s.drawn {
		return nil
	}
	s.drawn, s.drawnOn = strings.TrimPrefix(text, "\x1b[2J"), s.out
	_, err = io.WriteString(s.stdout, text)
	return err
}

// heading says what is shown and how old it is; and why, if there is no newer answer.
func (s *screen) heading(why string) []string {
	now := s.now()
	first := fmt.Sprintf("%s, every %s; changed %s, at %s. Ctrl-C ends.", s.query.resource.name, s.every, format.Ago(now.Sub(s.since)),
		format.Clock(s.since))
	if why == "" {
		return []string{first}
	}
	return []string{first, fmt.Sprintf("NO ANSWER since %s, %s: %s", format.Clock(s.lost), format.Ago(now.Sub(s.lost)), why)}
}

// body are the lines of the answer.
func (s *screen) body() ([]string, error) {
	var out bytes.Buffer
	shown := *s.env
	shown.stderr = &out
	err := error(nil)
	if s.list == nil {
		err = s.query.writeObject(&out, s.text, s.out)
	} else {
		lines := s.query.lines(&shown, &out)
		err = errors.Join(lines.page(s.list.items), lines.end(*s.list))
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}
