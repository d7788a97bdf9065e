# The shortest ways by Dijkstra's method, over roads from a file.
from heapq import heappop, heappush

roads = {}
with open("data/roads.txt") as file:
    for line in file:
        a, b, length = line.split()
        roads.setdefault(a, []).append((b, int(length)))
        roads.setdefault(b, []).append((a, int(length)))


def shortest(source):
    distance = {source: 0}
    waiting = [(0, source)]
    while waiting:
        reached, here = heappop(waiting)
        if reached > distance[here]:
            continue
        for town, length in roads[here]:
            if reached + length < distance.get(town, 1000000):
                distance[town] = reached + length
                heappush(waiting, (reached + length, town))
    return distance


distance = shortest("Aachen")
for town in sorted(distance):
    print(f"{town:10}{distance[town]:4}")
