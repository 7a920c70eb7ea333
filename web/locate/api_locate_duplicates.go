package locate

import (
	"net/http"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// checker is the check, or why there is none.
func checker(s *site.Site) (answer.DuplicateChecker, error) {
	if s.Deps.Duplicates == nil {
		return nil, fault.New(fault.Unavailable, "This server cannot check ids in the background.")
	}
	return s.Deps.Duplicates, nil
}

// report is the state of the check; idle where there is none.
func report(s *site.Site) placement.CheckReport {
	if s.Deps.Duplicates == nil {
		return placement.CheckReport{State: placement.CheckIdle, Left: -1}
	}
	return s.Deps.Duplicates.Report()
}

func ApiDuplicates(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return site.WriteJSON(w, http.StatusOK, answer.DuplicatesOf(s.ViewFor(r), report(s)))
}

// apiStartDuplicates begins the check. It reads the cluster and changes
// nothing of it, so it is no action that has to be planned.
func ApiStartDuplicates(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	c, err := checker(s)
	if err != nil {
		return err
	}
	var in api.DuplicateStart
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	from := map[topology.Namespace]bson.ObjectID{}
	for ns, hex := range in.From {
		id, err := bson.ObjectIDFromHex(hex)
		if err != nil && hex != "" {
			return fault.Wrap(fault.Invalid, err, "from is an id of 24 hexadecimal digits for each collection.")
		}
		from[topology.Namespace(ns)] = id
	}
	if err := c.Start(in.Resume, from); err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, answer.DuplicatesOf(s.ViewFor(r), c.Report()))
}

func ApiStopDuplicates(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	c, err := checker(s)
	if err != nil {
		return err
	}
	if err := c.Stop(); err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, answer.DuplicatesOf(s.ViewFor(r), c.Report()))
}
