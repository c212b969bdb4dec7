"""What the store's products are made of, and how its shoppers ask: words only, no rules."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A class of products: its name, other words for it, where it stands, its sizes and what it may have."""

    name: str
    other_names: tuple[str, ...]
    category: str
    sizes: tuple[str, ...]
    features: tuple[str, ...]
    materials: tuple[str, ...]


WOODS = ("oak", "walnut", "pine", "mango wood", "bamboo")
METALS = ("steel", "brass", "iron")
CLOTHS = ("linen", "velvet", "leather", "cotton", "wool")

KINDS: tuple[Kind, ...] = (
    Kind("sofa", ("couch", "settee"), "Furniture / Living Room / Sofas", ("58 in", "76 in", "90 in"), ("sleeper", "reclining", "with storage"), CLOTHS),
    Kind("coffee table", ("cocktail table",), "Furniture / Living Room / Coffee Tables", ("36 in", "48 in"), ("lift top", "with drawers", "nesting"), (*WOODS, *METALS)),
    Kind("bookcase", ("bookshelf", "shelving unit"), "Furniture / Office / Bookcases", ("24 in", "36 in", "72 in"), ("with doors", "corner", "ladder"), WOODS),
    Kind("desk", ("writing table",), "Furniture / Office / Desks", ("42 in", "48 in", "60 in"), ("standing", "with drawers", "folding"), (*WOODS, *METALS)),
    Kind("office chair", ("desk chair", "task chair"), "Furniture / Office / Chairs", ("small", "tall"), ("with armrests", "swivel", "kneeling"), CLOTHS),
    Kind("bed frame", ("bedstead",), "Furniture / Bedroom / Beds", ("twin", "queen", "king"), ("with storage", "canopy", "low platform"), (*WOODS, *METALS)),
    Kind("nightstand", ("bedside table",), "Furniture / Bedroom / Nightstands", ("16 in", "20 in"), ("with drawers", "floating", "with charging port"), WOODS),
    Kind("dresser", ("chest of drawers",), "Furniture / Bedroom / Dressers", ("30 in", "54 in"), ("with mirror", "six drawer", "tall"), WOODS),
    Kind("dining table", ("kitchen table",), "Furniture / Dining / Tables", ("48 in", "60 in", "84 in"), ("extendable", "round", "trestle"), WOODS),
    Kind("bar stool", ("counter stool",), "Furniture / Dining / Stools", ("24 in", "30 in"), ("with back", "swivel", "stackable"), (*WOODS, *METALS)),
    Kind("area rug", ("carpet",), "Rugs / Area Rugs", ("4 x 6 ft", "5 x 8 ft", "8 x 10 ft"), ("washable", "shag", "flatweave"), ("wool", "jute", "cotton")),
    Kind("curtain panel", ("drape", "window curtain"), "Decor / Window / Curtains", ("63 in", "84 in", "96 in"), ("blackout", "sheer", "with grommets"), ("linen", "velvet", "cotton")),
    Kind("chandelier", ("ceiling light",), "Lighting / Ceiling / Chandeliers", ("small", "medium", "large"), ("dimmable", "with crystals", "six light"), METALS),
    Kind("floor lamp", ("standing lamp",), "Lighting / Lamps / Floor Lamps", ("58 in", "64 in"), ("dimmable", "arched", "with shelves"), (*METALS, "bamboo")),
    Kind("table lamp", ("bedside lamp",), "Lighting / Lamps / Table Lamps", ("14 in", "22 in"), ("touch control", "with usb port", "ceramic base"), (*METALS, "pine")),
    Kind("duvet cover", ("comforter cover",), "Bed & Bath / Bedding / Duvet Covers", ("twin", "queen", "king"), ("tie dye", "with buttons", "striped"), ("linen", "cotton", "velvet")),
    Kind("shower curtain", ("bath curtain",), "Bed & Bath / Shower / Curtains", ("54 in", "72 in"), ("waterproof", "with hooks", "clear"), ("cotton", "linen", "vinyl")),
    Kind("bath mat", ("bath rug",), "Bed & Bath / Bath Rugs", ("17 x 24 in", "21 x 34 in"), ("memory foam", "non slip", "quick dry"), ("cotton", "bamboo", "wool")),
    Kind("kitchen cart", ("kitchen island",), "Kitchen / Carts", ("24 in", "36 in"), ("rolling", "with drop leaf", "with wine rack"), (*WOODS, "steel")),
    Kind("barn door", ("sliding door",), "Home Improvement / Doors", ("30 in", "36 in", "48 in"), ("with hardware kit", "single track", "glass panel"), (*WOODS, "steel")),
    Kind("wall mirror", ("looking glass",), "Decor / Mirrors", ("20 in", "30 in", "48 in"), ("arched", "lighted", "frameless"), (*METALS, "oak")),
    Kind("jewelry box", ("jewelry organizer", "jewellery case"), "Storage / Jewelry", ("small", "large"), ("with lock", "over the door", "with mirror"), ("leather", "velvet", "walnut")),
    Kind("storage basket", ("bin", "hamper"), "Storage / Baskets", ("small", "medium", "large"), ("with lid", "with handles", "stackable"), ("jute", "bamboo", "cotton")),
    Kind("patio chair", ("outdoor chair", "garden chair"), "Outdoor / Seating / Chairs", ("low", "tall"), ("folding", "rocking", "with cushion"), ("teak", "steel", "wicker")),
    Kind("planter", ("plant pot", "flower pot"), "Outdoor / Garden / Planters", ("8 in", "14 in", "20 in"), ("self watering", "hanging", "with stand"), ("ceramic", "steel", "teak")),
)  # fmt: skip

COLOURS = ("white", "black", "gray", "blue", "green", "brown", "beige", "red")
STYLES = ("modern", "rustic", "industrial", "coastal", "farmhouse", "mid-century")
ROOMS = (
    "small apartment",
    "guest room",
    "reading corner",
    "family home",
    "entryway",
    "studio",
    "sunroom",
    "children’s room",
)
LINES = (
    "Alder", "Brisa", "Calla", "Dune", "Élan", "Fjord", "Garnet", "Hollis", "Isla", "Juniper", "Kestrel", "Linnea",
    "Marlow", "Nordby", "Orla", "Piers", "Quill", "Rowan", "Señora", "Tamsin", "Umber", "Vesper", "Wren", "Yarrow",
)  # fmt: skip

#: What a description may say; {} are the product's own facts.
OPENERS = (
    "The {line} {kind} brings a {style} look to any {room}.",
    "A {style} {kind} that earns its place in a {room}.",
    "Made of {material}, this {kind} is built for daily use.",
    "Simple lines and a {colour} finish make this {kind} easy to place.",
    "Our customers’ favourite {kind}, now in {colour}.",
)
MIDDLES = (
    "It comes {feature} and fits where others don’t.",
    "The {material} is sourced with care, and every piece varies a little.",
    "Pairs well with white walls, oak floors and a gray rug.",
    "Assembly takes 20 minutes; the tools are in the box.",
    "At {size}, it is neither too big nor too small.",
    "Also seen beside a black lamp and a green plant.",
)
CLOSERS = (
    "Wipe clean with a dry cloth.",
    "Ships in one box.",
    "Its beauty will last a lifetime.",
    "Don’t leave it in direct sunlight.",
)

#: How shoppers misspell; an agent that fixes a spelling reads this the other way.
MISSPELT = {
    "couch": "coutch", "chandelier": "chandeler", "bookcase": "book case", "tie dye": "tye dye", "curtain": "curtian",
    "dresser": "dreser", "leather": "lether", "mirror": "miror",
}  # fmt: skip

#: What a person would call the same thing: the 'semantic' retriever knows these, BM25 doesn't.
SYNONYMS = {other: kind.name for kind in KINDS for other in kind.other_names} | {
    "grey": "gray", "timber": "wood", "foldable": "folding", "fold up": "folding", "grows plants": "planter",
    "medium size": "medium", "two seat": "58 in", "outside": "outdoor",
}  # fmt: skip
