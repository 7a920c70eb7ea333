package projects

import (
	"context"

	"github.com/a-h/templ"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
)

var (
	paramID = site.InPath("id", "a project's id, 24 hexadecimal digits")
	paramDB = site.Query("db", "of this database, where several have the id")
)

// Routes of projects.
var Routes = site.Table(
	site.Question[api.Projects]{
		Route: site.Route{Pattern: "/projects", Summary: "Projects and their spread", Time: site.Past, Writes: true,
			Topic: site.Topic{Kind: "projects", Draw: func(_ context.Context, s *site.Site, v answer.View, _ string) (templ.Component, error) {
				return ListRegion(v, s.Deps.Cluster.Profile)
			}}},
		Page: ListPage, OfPage: site.Takes[spread.ProjectsQuery](), Ask: list, OfData: site.Takes[spread.ProjectsListQuery](),
	},
	site.Page(site.Route{Pattern: "/projects/{id}", Summary: "Where is one project?",
		Params: append(site.Described(new(spread.ShardOfProject).Parameters(nil)), paramID), Handler: Page,
		Time: site.Past, Writes: true,
		Topic: site.Topic{Kind: "project", Of: isID,
			Draw: func(_ context.Context, s *site.Site, v answer.View, text string) (templ.Component, error) {
				id, err := bson.ObjectIDFromHex(text)
				if err != nil {
					return nil, err
				}
				return Region(s, v, id)
			}}}),
	site.Asked(site.Route{Pattern: "/projects/{id}", Summary: "One project, collection by collection",
		Params: []site.Param{paramID, paramDB},
		Tagged: true, Time: site.Past, Writes: true}, project),
	// Document keys are for those who may locate.
	site.Asked(site.Route{Pattern: "/projects/{id}/documents", Summary: "Yorkie documents of one project, by their keys",
		Policy: guard.PolicyLocate,
		Params: append(site.Takes[spread.DocumentsQuery](), paramID, paramDB),
		Time:   site.NowOnly}, documents),
)

func isID(text string) bool {
	_, err := bson.ObjectIDFromHex(text)
	return err == nil
}
