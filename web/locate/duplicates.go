package locate

import (
	"net/http"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// duplicates is how far the check for duplicate ids is and what it found.
func duplicates(s *site.Site, r *http.Request) (a api.DuplicateCheck, err error) {
	v := s.ViewFor(r)
	if !v.Table.Loaded { // that none was found would say that there is none
		return a, v.Table.NotLoaded()
	}
	return data.Duplicates(v, s.Deps.Locate.Duplicates), nil
}

// DuplicatesPage shows the same. While the check runs, the browser reloads the page
// by itself: a header, so that it works without any script.
func DuplicatesPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	p := duplicatesPage{
		v: v, check: data.Duplicates(v, s.Deps.Locate.Duplicates), can: s.Deps.Locate.Duplicates != nil,
		may: auth.From(r.Context()).May(auth.Operator),
	}
	if p.is(placement.CheckRunning) {
		w.Header().Set("Refresh", "3")
	}
	return site.WritePage(w, r, http.StatusOK, duplicatesWhole(s.Shell(r, v, "duplicates", "Duplicate ids"), p))
}

type duplicatesPage struct {
	v     answer.View
	check api.DuplicateCheck
	can   bool // this server has a check
	may   bool // the visitor may start and stop it
}

func (p duplicatesPage) is(state placement.CheckState) bool { return p.check.State == string(state) }

// DuplicatesForm starts, resumes or stops the check and leads back to its page. The
// check reads the cluster and changes nothing, so it needs no plan.
func DuplicatesForm(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	c, err := checker(s)
	if err != nil {
		return err
	}
	switch do := r.PostForm.Get("do"); do {
	case "start", "resume":
		err = c.Start(do == "resume", nil)
	case "stop":
		err = c.Stop()
	default:
		err = fault.New(fault.Invalid, "The form says neither start, resume nor stop.")
	}
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/checks/duplicates")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// StartDuplicatesJSON starts or resumes the check.
func StartDuplicatesJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	c, err := checker(s)
	if err != nil {
		return err
	}
	var in api.DuplicateStart
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	from := map[topology.Namespace]bson.RawValue{}
	for ns, text := range in.From {
		if from[topology.Namespace(ns)], err = firstID(text); err != nil {
			return err
		}
	}
	if err := c.Start(in.Resume, from); err != nil {
		return err
	}
	return site.WriteAnswer(s, w, r, duplicates)
}

// StopDuplicatesJSON stops the check.
func StopDuplicatesJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	c, err := checker(s)
	if err != nil {
		return err
	}
	if err := c.Stop(); err != nil {
		return err
	}
	return site.WriteAnswer(s, w, r, duplicates)
}

// firstID reads where a check begins: the digits of an ObjectID or another id as Extended JSON; nothing is the start.
func firstID(text string) (bson.RawValue, error) {
	if text == "" {
		return bson.RawValue{}, nil
	}
	if id, err := bson.ObjectIDFromHex(text); err == nil {
		return placement.ObjectIDValue(id), nil
	}
	key, err := shardkey.ParseExtJSON(`{"_id": ` + text + `}`)
	if err != nil {
		return bson.RawValue{}, fault.Wrap(fault.Invalid, err,
			"from is an id for each collection: 24 hexadecimal digits, or Extended JSON such as \"a text\" or {\"$date\": …}.")
	}
	return key.Lookup("_id"), nil
}

func checker(s *site.Site) (data.DuplicateChecker, error) {
	if s.Deps.Locate.Duplicates == nil {
		return nil, fault.New(fault.Unavailable, "This server cannot check ids in the background.")
	}
	return s.Deps.Locate.Duplicates, nil
}
