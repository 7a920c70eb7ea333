package simcluster

import (
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// parseExplained reads the inner command of an explain.
func (c *Cluster) parseExplained(r *engine.Request) (x explainRequest, err error) {
	switch r.Name {
	case "find":
		a, err := c.parseFind(r)
		if err != nil {
			return x, err
		}
		x = explainRequest{db: a.db, coll: a.coll, selection: a.selection}
		x.projection, _ = document(r, "projection")
	case "count":
		a, err := c.parseCount(r)
		if err != nil {
			return x, err
		}
		x = explainRequest{db: a.db, coll: a.coll, stage: "COUNT",
			selection: selection{filter: a.filter, skip: a.skip, limit: a.limit, hint: a.hint}}
	case "distinct":
		if x.db, x.coll, err = namespace(r); err != nil {
			return x, err
		}
		if x.filter, err = c.filter(r, "query"); err != nil {
			return x, err
		}
	case "update", "delete", "findAndModify", "findandmodify":
		return c.parseExplainedWrite(r)
	default:
		return x, status.Errorf(status.CommandNotFound, "Explain failed due to unknown command: %s", r.Name)
	}
	x.target = func() (target, error) { return c.target(x.db, x.coll, x.filter), nil }
	return x, nil
}

func (c *Cluster) parseExplainedWrite(r *engine.Request) (x explainRequest, err error) {
	if r.Name == "findAndModify" || r.Name == "findandmodify" {
		a, err := c.parseModify(r)
		if err != nil {
			return x, err
		}
		x = explainRequest{db: a.db, coll: a.coll, stage: "UPDATE", selection: selection{filter: a.statement.filter, limit: 1}}
		if a.remove {
			x.stage = "DELETE"
		}
		x.target = func() (target, error) {
			t := c.target(x.db, x.coll, x.filter)
			return t, c.mayModify(t)
		}
		return x, nil
	}
	if x.db, x.coll, err = namespace(r); err != nil {
		return x, err
	}
	list, err := statements(r, r.Name+"s")
	if err != nil {
		return x, err
	}
	if len(list) != 1 {
		return x, status.Errorf(codeInvalidLength, "explained write batches must be of size 1")
	}
	if r.Name == "update" {
		s, err := c.parseUpdate(r, list[0])
		if err != nil {
			return x, err
		}
		x.stage, x.filter = "UPDATE", s.filter
		x.target = func() (target, error) { return c.targetUpdate(x.db, x.coll, s) }
		return x, nil
	}
	env, err := c.environment(r)
	if err != nil {
		return x, err
	}
	q, _ := value.Field(list[0], "q").DocumentOK()
	x.stage = "DELETE"
	if x.filter, err = parseFilter(q, env); err != nil {
		return x, err
	}
	x.target = func() (target, error) { return c.target(x.db, x.coll, x.filter), nil }
	return x, nil
}
