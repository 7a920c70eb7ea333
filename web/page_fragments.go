package web

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/a-h/templ"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/history"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// View is what a page or a fragment is made from: one routing table, one
// directory of projects and one moment. Builders in view_*.go are pure
// functions of it, so a page and the fragment that later replaces a part of
// it can never disagree.
type View struct {
	Table   *topology.Table
	Dir     *placement.Directory
	Profile *profile.Profile // nil: nothing is compared with layouts
	Now     time.Time
	Data    store.Condition // of the data directory
	Trouble string          // heading of what is wrong with our own data; "" while nothing is known to be
	Cost    int             // commands sent to the cluster during the last minute; 0 = not known

	Internal bool // with the server's own collections in lists that leave them out

	Past *pastTime                                 // nil: it is of now
	Eras history.Eras                              // who may have moved chunks, where that is shown
	Runs func(from, to time.Time) []history.OurRun // of ours; nil: none are known
	// FlightRuns are those that may be what moves now; nil: Runs tells.
	FlightRuns func() []history.OurRun

	Sizes  ChunkSizes                                                                               // nil: chunks are not measured
	Writes func(*topology.Table, topology.Namespace) (rates map[int]heat.Rate, known, atLeast bool) // by chunk; nil: not counted

	Found *rules.View // what the rules find in it; nil: evaluated when it is asked for

	Hidden hidden // from those whom the view is for
	whole  *View  // without anything hidden; nil: nothing is

	Pins        map[string]rules.Pin // of now, by project; nil: nothing is known of any
	PinsVersion uint64
}

// fragmentFunc renders the shared live region of one topic. It holds nothing
// that depends on the user, a filter or a page number.
type fragmentFunc func(ctx context.Context, w io.Writer, v View) error

// fragments maps a live topic to the renderer of its shared region. ok tells
// whether the topic exists; a nil renderer with ok means that browsers are only
// told the version and re-read their own address (a collection's page is always
// filtered or paged).
func (s *Site) fragments(topic string) (render fragmentFunc, ok bool) {
	kind, arg, of := strings.Cut(topic, ":")
	if topicOf(kind, of).Kind == "" {
		return nil, false
	}
	switch kind {
	case "overview", "collections", "projects", "zones", "activity":
		return s.fragmentOf(func(v View) (templ.Component, error) { return s.region(kind, v), nil }), true
	case "collection":
		return nil, arg != ""
	case "project":
		id, err := bson.ObjectIDFromHex(arg)
		if err != nil {
			return nil, false
		}
		return s.fragmentOf(func(v View) (templ.Component, error) {
			m, err := projectView(v, s.deps.Profile, id)
			return templates.ProjectRegion(m), err
		}), true
	case "run":
		return s.runFragment(arg), s.deps.Actions != nil && recordName(arg)
	case "shard":
		return s.fragmentOf(func(v View) (templ.Component, error) {
			m, err := shardView(v, s.deps.Profile, arg)
			return templates.ShardRegion(m), err
		}), arg != ""
	}
	return nil, false
}

// region is the live region of a topic without an argument, unfiltered.
func (s *Site) region(topic string, v View) templ.Component {
	switch topic {
	case "overview":
		return templates.OverviewRegion(overviewView(v))
	case "collections":
		return templates.CollectionsRegion(collectionsView(v))
	case "projects":
		return templates.ProjectsRegion(projectsView(v, s.deps.Profile, projectsQuery{}))
	case "zones":
		return templates.ZonesRegion(zonesView(v))
	default:
		v.Eras = s.eras(v)
		return templates.ActivityRegion(activityView(v, activityQuery{}))
	}
}

// fragmentOf turns a component builder into a renderer; a subject that is gone
// (fault.NotFound) renders nothing, and the browser then re-reads its address.
func (s *Site) fragmentOf(build func(View) (templ.Component, error)) fragmentFunc {
	return func(ctx context.Context, w io.Writer, v View) error {
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
