package web

import (
	"context"
	"io"

	"shardboard/internal/answer"
	"shardboard/web/changes"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// runFragment draws a run for all who look at it. It reads the run itself: no
// table has it.
func runFragment(s *site.Site, id string) answer.FragmentFunc {
	return func(ctx context.Context, w io.Writer, v answer.View) error {
		run, err := s.Deps.Actions.RunByID(ctx, id)
		if err != nil {
			return err
		}
		return changes.RunRegion(changes.RegionOf(ctx, s, v, run)).Render(templates.AsFragment(ctx), w)
	}
}
