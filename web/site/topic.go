package site

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/web/guard"
	"shardboard/web/templates"
)

// Topic is the live region of a page: what its browsers follow, by the kind alone or,
// of a page about one thing, as "kind:thing".
type Topic struct {
	Kind string
	Of   func(thing string) bool // tells what it may be about; nil: about everything
	// Draw makes the region, unfiltered. One that is gone (fault.NotFound) is drawn by
	// nobody: the browser then re-reads its address. nil: browsers are only told the
	// version and always re-read theirs, since such a page is filtered or paged.
	Draw func(ctx context.Context, s *Site, v answer.View, thing string) (templ.Component, error)
	// State is what a topic that is never drawn depends on; nil: what the hub knows of it. It is compared
	// and never sent.
	State  func(ctx context.Context, s *Site) string
	Policy guard.Policy // who may follow it; that of its page
}

// Topics are those of a table's pages, by kind.
func Topics(table []Route) map[string]Topic {
	out := map[string]Topic{}
	for _, rt := range table {
		for _, t := range append([]Topic{rt.Topic}, rt.Topics...) {
			if t.Kind != "" {
				t.Policy = rt.Policy
				out[t.Kind] = t
			}
		}
	}
	return out
}

// Topic finds a topic by its name; the zero Topic, which nobody may follow, when
// there is none.
func (s *Addresses) Topic(name string) (t Topic, thing string) {
	kind, thing, of := strings.Cut(name, ":")
	t = s.topics[kind]
	if of != (t.Of != nil) || of && !t.Of(thing) {
		return Topic{}, ""
	}
	return t, thing
}

// Fragment is the renderer of a topic's region; nil for one that is never drawn.
func (s *Site) Fragment(name string) (render answer.FragmentFunc, ok bool) {
	t, thing := s.Topic(name)
	if t.Draw == nil {
		return nil, t.Kind != ""
	}
	return func(ctx context.Context, w io.Writer, v answer.View) error {
		ctx = s.drawing(ctx)
		c, err := t.Draw(ctx, s, v, thing)
		if err != nil {
			if fault.Of(err) == fault.NotFound {
				return err
			}
			return fault.Wrap(fault.Internal, err, "This part could not be drawn.")
		}
		return c.Render(templates.AsFragment(ctx), w)
	}, true
}

// Named takes every name but the empty one for a thing.
func Named(thing string) bool { return thing != "" }
