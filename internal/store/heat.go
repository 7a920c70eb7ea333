package store

// Heat keeps write rates, surveys and key visualizer layers.
type Heat interface{}
