package store

import "encoding/json"

// TextOf is a list or map as the text of a column; "" for an empty one.
func TextOf[T ~[]string | ~map[string]string](v T) string {
	if len(v) == 0 {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts can always be written
	}
	return string(text)
}

// ListOf is the list of a text of TextOf; nil for one that cannot be read.
func ListOf(text string) (list []string) {
	if text == "" || json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	return list
}

// ClustersOf are the clusters of a text of TextOf. One that cannot be read binds a token to no cluster
// at all, because nobody knows to which.
func ClustersOf(text string) (clusters map[string]string) {
	if text == "" {
		return nil
	}
	if json.Unmarshal([]byte(text), &clusters) != nil || clusters == nil {
		return map[string]string{}
	}
	return clusters
}
