package web

import (
	"net/url"
	"strconv"
)

// layouts: a database that is not sharded as its layout says.
func (n *notices) layouts(v View) {
	if v.Profile == nil || !v.Table.Loaded {
		return
	}
	for _, db := range v.Profile.Match(v.Table) {
		d := v.Profile.DriftOf(v.Table, db, "")
		if looks := d.Looks(); looks > 0 {
			n.add(false, "drift", db, "/layout?"+url.Values{"db": {db}}.Encode(), "db", db, "n", strconv.Itoa(looks), "layout", d.Nearest)
		}
	}
}
