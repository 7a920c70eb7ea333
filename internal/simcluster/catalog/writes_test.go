package catalog

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
)

// update applies recorded updates: to the documents that each shard owns, or to
// config.settings as an upsert.
func (p *replayer) update(db, coll string, cmd bson.Raw) {
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	values, _ := cmd.Lookup("updates").Array().Values()
	for _, v := range values {
		q := v.Document().Lookup("q").Document()
		if db == "config" && coll == "settings" {
			var fields bson.D
			if err := bson.Unmarshal(v.Document().Lookup("u", "$set").Document(), &fields); err != nil {
				p.t.Fatal(err)
			}
			p.c.setSetting(q.Lookup("_id").StringValue(), fields)
			continue
		}
		f, err := query.Parse(q, nil)
		if err != nil {
			p.t.Fatal(err)
		}
		u, err := query.ParseUpdate(v.Document().Lookup("u"), query.UpdateOptions{})
		if err != nil {
			p.t.Fatal(err)
		}
		if db == "config" {
			p.updateIn(p.c.Config.Coll(db, coll), f, u, true, nil)
			p.c.ConfigWritten(coll)
			continue
		}
		multi := truthy(v.Document().Lookup("multi"))
		r := p.c.Routing(db + "." + coll)
		for _, s := range p.c.ShardNames() {
			at := p.c.data(s, db+"."+coll)
			if at != nil && p.updateIn(at, f, u, multi, func(d bson.Raw) bool { return r == nil || r.Owns(s, d) }) && !multi {
				break
			}
		}
	}
}

func (p *replayer) updateIn(coll *engine.Coll, f *query.Filter, u *query.Update, multi bool, owned func(bson.Raw) bool) (any bool) {
	after := make(map[engine.RecordID]bson.Raw)
	scan(coll, func(id engine.RecordID, d bson.Raw) bool {
		if ok, _ := f.Match(d); !ok || owned != nil && !owned(d) {
			return true
		}
		changed, _, err := u.Apply(d, f)
		if err != nil {
			p.t.Fatal(err)
		}
		after[id], any = changed, true
		return multi
	})
	for id, d := range after {
		if err := coll.Update(id, d); err != nil {
			p.t.Fatal(err)
		}
	}
	return any
}

func (p *replayer) index(db, coll string, cmd bson.Raw) {
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	values, _ := cmd.Lookup("indexes").Array().Values()
	for _, s := range p.c.ShardNames() {
		for _, v := range values {
			var spec bson.D
			_ = bson.Unmarshal(v.Document(), &spec)
			if at := p.c.data(s, db+"."+coll); at != nil {
				if _, err := at.EnsureIndex(spec); err != nil {
					p.t.Fatal(err)
				}
			}
		}
	}
}
