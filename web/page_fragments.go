package web

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/web/activity"
	"shardboard/web/collections"
	"shardboard/web/guard"
	"shardboard/web/overview"
	"shardboard/web/projects"
	"shardboard/web/shards"
	"shardboard/web/site"
	"shardboard/web/templates"
	"shardboard/web/zones"
)

// fragments maps a live topic to the renderer of its shared region. ok tells
// whether the topic exists; a nil renderer with ok means that browsers are only
// told the version and re-read their own address (a collection's page is always
// filtered or paged).
func fragments(s *site.Site, topic string) (render answer.FragmentFunc, ok bool) {
	kind, arg, of := strings.Cut(topic, ":")
	if guard.TopicOf(kind, of).Kind == "" {
		return nil, false
	}
	switch kind {
	case "overview", "collections", "zones", "activity":
		return fragmentOf(s, func(v answer.View) (templ.Component, error) { return region(s, kind, v), nil }), true
	case "collection":
		return nil, arg != ""
	case "projects":
		return fragmentOf(s, func(v answer.View) (templ.Component, error) {
			return projects.ListRegion(v, s.Deps.Profile)
		}), true
	case "project":
		id, err := bson.ObjectIDFromHex(arg)
		if err != nil {
			return nil, false
		}
		return fragmentOf(s, func(v answer.View) (templ.Component, error) {
			return projects.Region(v, s.Deps.Profile, id)
		}), true
	case "run":
		return runFragment(s, arg), s.Deps.Actions != nil && answer.RecordName(arg)
	case "shard":
		return fragmentOf(s, func(v answer.View) (templ.Component, error) {
			return shards.Region(v, s.Deps.Profile, arg)
		}), arg != ""
	}
	return nil, false
}

// region is the live region of a topic without an argument, unfiltered.
func region(s *site.Site, topic string, v answer.View) templ.Component {
	switch topic {
	case "overview":
		return overview.Region(v)
	case "collections":
		return collections.Region(v)
	case "zones":
		return zones.Region(v)
	default:
		v.Eras = s.Eras(v)
		return activity.Region(v)
	}
}

// fragmentOf turns a component builder into a renderer; a subject that is gone
// (fault.NotFound) renders nothing, and the browser then re-reads its address.
func fragmentOf(s *site.Site, build func(answer.View) (templ.Component, error)) answer.FragmentFunc {
	return func(ctx context.Context, w io.Writer, v answer.View) error {
		c, err := build(v)
		if err != nil {
			if fault.Of(err) == fault.NotFound {
				return err
			}
			return fault.Wrap(fault.Internal, err, "This part could not be drawn.")
		}
		return c.Render(templates.AsFragment(ctx), w)
	}
}
