package api

// Found is what a few typed characters may mean (GET find), best first.
type Found struct {
	Query string      `json:"query"`
	Items []FoundItem `json:"items"`
	More  int         `json:"more"` // matches that are not listed
	Freshness
}

// FoundItem is a place of the dashboard.
type FoundItem struct {
	Kind   string  `json:"kind"` // page, project, collection, shard, zone, change (a form that plans it), run
	Name   string  `json:"name"`
	Detail string  `json:"detail"` // what tells apart things of one name; "" for nothing
	URL    Address `json:"url"`
}
