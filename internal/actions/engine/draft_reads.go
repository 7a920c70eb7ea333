package engine

import (
	"context"
	"slices"

	"shardboard/internal/actions"
)

// draftWithReads makes a draft, reads what it needs, and makes it again until nothing is missing that can be read:
// what is planned decides what is needed. It is made again only for what was not read yet, so it comes to an end. s
// gets what was read.
func (e *planning) draftWithReads(ctx context.Context, s *actions.Situation, draft func(actions.Situation) (actions.Draft, error),
) (actions.Draft, error) {
	var had actions.Needs
	for {
		d, err := draft(*s)
		if err != nil || !e.readMissing(ctx, s, d.Needs, &had) {
			d.Needs = actions.Needs{}
			return d, err
		}
	}
}

// readMissing reads what is needed and was not read yet. What other needs depend on comes first. It returns false when
// there is nothing to read.
func (e *planning) readMissing(ctx context.Context, s *actions.Situation, need actions.Needs, had *actions.Needs) bool {
	if need.Indexes != "" && need.Indexes != had.Indexes && e.opts.Indexes != nil {
		had.Indexes = need.Indexes
		*s = e.withIndexes(ctx, *s, need.Indexes)
		return true
	}
	if len(lacking(need.Writes, &had.Writes)) > 0 {
		*s = e.withRecentWrites(ctx, *s, had.Writes)
		return true
	}
	flags := lacking(need.Flags, &had.Flags)
	if len(flags) > 0 {
		*s = e.withJumboFlags(ctx, *s, flags)
	}
	var sizes []actions.Span
	if e.opts.Sizes != nil {
		sizes = lacking(need.Sizes, &had.Sizes)
	}
	if len(sizes) > 0 {
		*s = e.withSizes(ctx, *s, sizes)
	}
	return len(flags)+len(sizes) > 0
}

// lacking returns the spans that are needed and not had, and adds them to those.
func lacking(need []actions.Span, had *[]actions.Span) (out []actions.Span) {
	for _, s := range need {
		if !slices.Contains(*had, s) {
			out = append(out, s)
			*had = append(*had, s)
		}
	}
	return out
}
