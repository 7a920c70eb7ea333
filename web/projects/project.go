package projects

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/causes"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/problems"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page answers "where is this project?".
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := projectID(s, r)
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	p, err := answer.FindProject(v, "", id)
	if err != nil {
		return err
	}
	var q spread.ShardOfProject
	if err := q.Parameters(v.Table).Read(r.URL.Query()); err != nil {
		return err
	}
	region := regionOf(s, v, p, q.Shard)
	sh := s.Shell(r, v, "projects", answer.NameOf(p), "project:"+id.Hex())
	page := projectPage(sh, s.Deps.Cluster.Profile.TenantWords().Many, p.DB, region,
		sizes(s, v, p, auth.From(r.Context())), s.Offers(r, v.Table).Project(p))
	return site.WritePage(w, r, http.StatusOK, page)
}

// Region is the live region of a project's page.
func Region(s *site.Site, v answer.View, id bson.ObjectID) (templ.Component, error) {
	pr, err := answer.FindProject(v, "", id)
	if err != nil {
		return nil, err
	}
	return regionOf(s, v, pr, ""), nil
}

// regionOf is the region with what a shard has of the project first; without one it is that of everybody.
func regionOf(x *site.Site, v answer.View, pr placement.Project, shard string) templ.Component {
	p := x.Deps.Cluster.Profile
	s := placement.SpreadOf(v.Table, p, pr)
	m := projectView{
		ProjectDetail: spread.Project(v, p, s),
		incidents:     problems.IncidentsAbout(v, problems.About{Project: pr.ID.Hex()}, x.Tries(v)), mayPlan: x.Deps.Changes.PlanForms,
		inFlight: logbook.MovingNow(v, logbook.MovingOfProject(v, s), logbook.FlightsListed),
		failed:   logbook.FailedMoves(v, true, logbook.ActivityQuery{}, spread.MovesOfProject(v, s)),
		why:      groupWhy(causes.ProjectWhy(v, s).Collections),
		now:      v.Now, text: templates.SentencesOf(v), shards: templates.RefsOf(v.Table), columns: templates.ShardRefs(v.Table),
	}
	if shard != "" {
		on := spread.ProjectOn(v, s, shard)
		m.on, m.live = &on, strings.TrimSuffix(answer.ProjectShardURL(pr.ID.Hex(), shard), "#on-shard")
	}
	return projectRegion(m)
}

// sizes is the best known size of the project by collection, from surveys or estimates; nothing where
// nothing measures, nor of the past, as both are of now.
func sizes(s *site.Site, v answer.View, p placement.Project, who auth.Principal) templ.Component {
	measured := s.Deps.Measured.Surveys
	if measured == nil || v.Past != nil {
		return templ.NopComponent
	}
	start := s.SurveyForm(who)
	start.Project, start.DB = p.ID.Hex(), p.DB
	surveyed := answer.ProjectSizes(measured.Findings(p.DB, p.ID))
	return sizesRegion(answer.SizesOfProject(v, p, measured), surveyed, start, templates.RefsOf(v.Table), v.Now, answer.EstimateNote(v))
}

// asked is the project of a request; ?db= chooses among projects with the same id.
func asked(s *site.Site, r *http.Request) (v answer.View, p placement.Project, err error) {
	if v, err = loaded(s, r); err != nil {
		return v, p, err
	}
	id, err := projectID(s, r)
	if err != nil {
		return v, p, err
	}
	p, err = answer.FindProject(v, r.URL.Query().Get("db"), id)
	return v, p, err
}

// project is one project, collection by collection.
func project(s *site.Site, r *http.Request) (a api.ProjectDetail, err error) {
	v, p, err := asked(s, r)
	if err != nil {
		return a, err
	}
	return spread.Project(v, s.Deps.Cluster.Profile, placement.SpreadOf(v.Table, s.Deps.Cluster.Profile, p)), nil
}

// documents are the documents of one project.
func documents(s *site.Site, r *http.Request) (a api.ProjectDocuments, err error) {
	v, p, err := asked(s, r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[spread.DocumentsQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	return spread.ProjectDocuments(r.Context(), v, s.Deps.Cluster.Profile, s.Deps.Locate.Locator, p, q)
}

func projectID(s *site.Site, r *http.Request) (bson.ObjectID, error) {
	text, err := site.PathText(r, "id")
	if err != nil {
		return bson.ObjectID{}, err
	}
	id, err := bson.ObjectIDFromHex(text)
	if err != nil {
		return id, fault.New(fault.Invalid, s.Deps.Cluster.Profile.Format("A project's id has 24 hexadecimal digits; %q does not."),
			sanitize.Truncate(text, 60))
	}
	return id, nil
}
