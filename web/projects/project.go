package projects

import (
	"net/http"

	"github.com/a-h/templ"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page answers "where is this project?".
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := projectID(r)
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
	region := regionOf(v, s.Deps.Profile, p)
	sh := s.Shell(r, v, "projects", answer.NameOf(p), "project:"+id.Hex())
	page := projectPage(sh, p.DB, region, sizes(s, v, p, auth.From(r.Context())), s.Offers(r, v.Table).Project(p))
	return site.WritePage(w, r, http.StatusOK, page)
}

// Region is the live region of a project's page.
func Region(v answer.View, p *profile.Profile, id bson.ObjectID) (templ.Component, error) {
	pr, err := answer.FindProject(v, "", id)
	if err != nil {
		return nil, err
	}
	return regionOf(v, p, pr), nil
}

func regionOf(v answer.View, p *profile.Profile, pr placement.Project) templ.Component {
	s := placement.SpreadOf(v.Table, p, pr)
	return projectRegion(projectView{
		ProjectDetail: answer.Project(v, p, s),
		inFlight:      answer.MovingNow(v, answer.MovingOfProject(v, s), answer.FlightsListed),
		failed:        answer.FailedMoves(v, true, answer.ActivityQuery{}, answer.MovesOfProject(v, s)),
		why:           groupWhy(answer.ProjectWhy(v, s).Collections),
		now:           v.Now, shards: templates.RefsOf(v.Table), columns: templates.ShardRefs(v.Table),
	})
}

// sizes is the best known size of the project by collection, from surveys or estimates; nothing where
// nothing measures, nor of the past, as both are of now.
func sizes(s *site.Site, v answer.View, p placement.Project, who auth.Principal) templ.Component {
	if s.Deps.Surveys == nil || v.Past != nil {
		return templ.NopComponent
	}
	start := s.SurveyForm(who)
	start.Project, start.DB = p.ID.Hex(), p.DB
	surveyed := answer.ProjectSizes(s.Deps.Surveys.Findings(p.DB, p.ID))
	return sizesRegion(answer.SizesOfProject(v, p, s.Deps.Surveys), surveyed, start, templates.RefsOf(v.Table), v.Now, answer.EstimateNote(v))
}

// project is one project, collection by collection; ?db= chooses among projects with
// the same id.
func project(s *site.Site, r *http.Request) (a api.ProjectDetail, err error) {
	v, err := loaded(s, r)
	if err != nil {
		return a, err
	}
	id, err := projectID(r)
	if err != nil {
		return a, err
	}
	p, err := answer.FindProject(v, r.URL.Query().Get("db"), id)
	if err != nil {
		return a, err
	}
	return answer.Project(v, s.Deps.Profile, placement.SpreadOf(v.Table, s.Deps.Profile, p)), nil
}

func projectID(r *http.Request) (bson.ObjectID, error) {
	text, err := site.PathText(r, "id")
	if err != nil {
		return bson.ObjectID{}, err
	}
	id, err := bson.ObjectIDFromHex(text)
	if err != nil {
		return id, fault.New(fault.Invalid, "A project's id has 24 hexadecimal digits; %q does not.", sanitize.Truncate(text, 60))
	}
	return id, nil
}
