package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// watch shows an answer again whenever it changes.
type watch struct {
	*env
	source source
	query  query
	every  time.Duration
	to     changes

	tag  string // ETag of the last answer
	last string // what the last answer said, without its time
}

// changes writes the answers that watch finds.
type changes interface {
	// changed writes an answer: a list, or the text of one object. It is called for those that are new.
	changed(list *listPage, text []byte) error
	// waits is called after each try; why is the reason if it got no answer, else "".
	waits(why string) error
}

// watchedRows is how many rows --watch compares: an answer is held in memory, and asked for again and again.
const watchedRows = 10_000

// changes are written to a screen where there is one, else as lines for another program.
func (q query) changes(e *env, every time.Duration) changes {
	switch {
	case q.csv():
		return &csvChanges{env: e, query: q, every: every}
	case e.out.tty && q.output != "json":
		return &screen{env: e, query: q, every: every, now: time.Now}
	}
	return &jsonChanges{env: e, query: q, every: every}
}

// run asks until the context ends. A server that does not answer may be restarting.
func (o *watch) run() error {
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for first := true; ; first = false {
		err := o.round(first)
		why := ""
		switch {
		case o.ctx.Err() != nil:
			return nil
		case err == nil:
		case first || !errors.Is(err, app.ErrNoAnswer) && fault.Of(err) != fault.Unavailable:
			return err
		default:
			why = message(err)
		}
		if err := o.to.waits(why); err != nil {
			return err
		}
		select {
		case <-o.ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// round asks once and shows what is new.
func (o *watch) round(first bool) error {
	if !first {
		if err := o.source.refresh(o.ctx); err != nil {
			return err
		}
	}
	list, text, err := o.read(o.ctx)
	if err != nil || list == nil && text == nil {
		return err
	}
	said := string(text)
	if list != nil {
		said = list.compact(o.query.rowsField())
	}
	if said = withoutTime(said); said == o.last {
		return nil
	}
	o.last = said
	return o.to.changed(list, text)
}

// read is the whole answer; nothing while it is still the former one.
func (o *watch) read(ctx context.Context) (*listPage, []byte, error) {
	text, tag, err := o.source.remote.Read(ctx, o.query.address(nil), o.tag)
	if err != nil || text == nil {
		return nil, nil, err
	}
	if !o.query.isList() {
		o.tag = tag
		return nil, text, nil
	}
	all := &pageOfAll{limit: o.query.lines(o.env, io.Discard).most()}
	if all.limit == 0 {
		all.limit = watchedRows + 1
	}
	if err := o.query.pages(ctx, o.source.remote, all); err != nil {
		return nil, nil, err
	}
	if len(all.items) > watchedRows {
		return nil, nil, fault.New(fault.Invalid, "--watch compares at most %d rows, and there are more: choose some with filters or --limit.",
			watchedRows)
	}
	o.tag = tag
	return &all.listPage, nil, nil
}

// jsonChanges writes a line of JSON for each change.
type jsonChanges struct {
	*env
	query query
	every time.Duration
	lost  bool
}

func (j *jsonChanges) changed(list *listPage, text []byte) error {
	if list != nil {
		text = []byte(list.compact(j.query.rowsField()))
	}
	_, err := fmt.Fprintln(j.stdout, sanitize.JSON(string(text)))
	return err
}

func (j *jsonChanges) waits(why string) error {
	j.lost = noteLost(j.env, j.lost, why, j.every)
	return nil
}

// noteLost says once that there is no answer, and once that there is one again.
func noteLost(e *env, lost bool, why string, every time.Duration) bool {
	switch {
	case why != "" && !lost:
		e.note("%s Trying again every %s.", why, every)
	case why == "" && lost:
		e.note("It answers again.")
	}
	return why != ""
}

// pageOfAll collects the pages of a list.
type pageOfAll struct {
	listPage
	limit int
}

func (p *pageOfAll) most() int { return p.limit }

func (p *pageOfAll) page(items []json.RawMessage) error {
	p.items = append(p.items, items...)
	return nil
}

func (p *pageOfAll) end(last listPage) error {
	p.rest, p.cut = last.rest, last.cut
	return nil
}

// compact is the list as one line of JSON.
func (p *listPage) compact(field string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{%q:[", field)
	for i, item := range p.items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item)
	}
	b.WriteByte(']')
	for _, f := range p.rest {
		fmt.Fprintf(&b, ",%q:%s", f.name, f.value)
	}
	b.WriteByte('}')
	return b.String()
}

// withoutTime is an answer without when it was made, which is no news.
func withoutTime(text string) string {
	fields, err := jsonFields([]byte(text))
	if err != nil {
		return text
	}
	var b strings.Builder
	for _, f := range fields {
		if f.name != "asOf" && f.name != "seq" {
			fmt.Fprintf(&b, "%q:%s,", f.name, f.value)
		}
	}
	return b.String()
}
