package layerstore

// Generations are all that are there, the oldest first.
func (p *Store) Generations() ([]Generation, error) {
	numbers, err := p.disk().numbers()
	if err != nil {
		return nil, err
	}
	var all []Generation
	for _, n := range numbers {
		g, err := p.Generation(n)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}
