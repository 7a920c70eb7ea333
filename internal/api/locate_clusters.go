package api

import "time"

// ClusterLocate is what one of several clusters answers to a locate query (GET locate of the server).
type ClusterLocate struct {
	Name  string  `json:"name"` // of the cluster
	Title string  `json:"title"`
	URL   Address `json:"url"` // of the cluster's own answer; "" if the caller may not locate there, or it has no pages
	// State is found, notFound, unreachable (nothing is known), invalid or notPermitted.
	State string     `json:"state"`
	Text  string     `json:"text"` // why nothing was found, or a remark such as that a name differs in case; "" if there is none
	Found []Located  `json:"found"`
	Near  *NearNames `json:"near,omitempty"` // with near=1
	Stale bool       `json:"stale"`          // answered from a state of the cluster that is not the newest
	AsOf  *time.Time `json:"asOf"`           // of that state; null if there is none
}

// Located is one thing that a locate query found on a cluster, in short.
type Located struct {
	Kind    string   `json:"kind"` // as in GET locate of the cluster; also shard, collection and zone
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Project string   `json:"project"` // name of the owning project, else its id; "" if unknown
	Shards  []string `json:"shards"`  // where it belongs
	Answer  string   `json:"answer"`  // one sentence; "" of shards, collections and zones
	URL     Address  `json:"url"`
}

// ClusterLocateLines is the answer to POST locate of the server: many lines, asked of all clusters.
type ClusterLocateLines struct {
	Items    []ClusterLocateLine  `json:"items"`
	Clusters []ClusterLocateState `json:"clusters"` // all that the caller may see, in the order of the configuration
	AsOf     time.Time            `json:"asOf"`
}

// ClusterLocateState is what became of asking one cluster for many lines.
type ClusterLocateState struct {
	Name  string     `json:"name"`
	Title string     `json:"title"`
	State string     `json:"state"` // answered, unreachable (nothing is known of at least one line) or notPermitted
	Text  string     `json:"text"`  // why not answered
	Stale bool       `json:"stale"` // answered from a state of the cluster that is not the newest
	AsOf  *time.Time `json:"asOf"`
}

// ClusterLocateLine is the answer to one line: where it was found, and of which clusters nothing is known.
type ClusterLocateLine struct {
	Line     int         `json:"line"`  // from 1
	Query    string      `json:"query"` // "" if it looks like a secret key and matched nothing: such text is not repeated
	State    string      `json:"state"` // found, unreachable (it may be on a cluster that does not answer), invalid or notFound
	Text     string      `json:"text"`  // why nothing was found; "" if something was
	Found    []LocatedOn `json:"found"`
	NotFound []string    `json:"notFound"` // names of the clusters that do not have it
	Unknown  []string    `json:"unknown"`  // names of the clusters that do not answer
}

// LocatedOn is one thing that was found, and on which cluster.
type LocatedOn struct {
	Cluster string `json:"cluster"`
	Located
}
