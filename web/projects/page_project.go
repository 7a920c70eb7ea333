package projects

import (
	"net/http"

	"github.com/a-h/templ"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/web/parts"
	"shardboard/web/site"
)

// pageProject answers "where is this tenant?".
func PageProject(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	raw, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	id, err := bson.ObjectIDFromHex(raw)
	if err != nil {
		return fault.New(fault.Invalid, "A project id is 24 hexadecimal digits; %q is not.", sanitize.Truncate(raw, 60))
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	m, err := ProjectView(v, s.Deps.Profile, id)
	if err != nil {
		return err
	}
	pr, _ := v.Dir.ByID(id) // there, or its view would not be
	acts := s.Offers(r, v.Table).Project(pr)
	sh := s.Shell(r, v, "projects", m.Name, "project:"+id.Hex())
	return site.WritePage(w, r, http.StatusOK, ProjectPage(sh, m, sizes(s, v, pr, auth.From(r.Context())), acts))
}

// sizes is what surveys found of the project; nothing where nothing measures, nor
// of the past, as surveys measure what is there now.
func sizes(s *site.Site, v answer.View, pr placement.Project, who auth.Principal) templ.Component {
	if s.Deps.Surveys == nil || v.Past != nil {
		return templ.NopComponent
	}
	start := s.SurveyForm(who)
	start.Project, start.DB = pr.ID.Hex(), pr.DB
	return sizesRegion(answer.ProjectSizes(s.Deps.Surveys.Findings(pr.DB, pr.ID)), start, parts.RefsOf(v.Table), v.Now)
}
