/** Small figures and pieces for tests. */
import type { Figure, Piece } from '../src/messages'

/** A hand that slides along x (kinematic), and a pendulum below it that turns about y; a string of variable length. */
export function pendulum(): Figure {
  return {
    name: 'pendulum',
    variables: [
      { name: 'turn', unit: 'rad', lower: -1, upper: 1, kinematic: false, start: 0 },
      { name: 'slide', unit: 'm', lower: null, upper: null, kinematic: true, start: 0.5 },
      { name: 'wound', unit: 'm', lower: 0, upper: null, kinematic: true, start: 1 },
    ],
    frames: [
      {
        name: 'hand',
        parent: -1,
        position: [0, 0, 2],
        rotation: [1, 0, 0, 0],
        motion: 'translate',
        axis: [1, 0, 0],
        pitch: 0,
        q: 1,
      },
      {
        name: 'arm',
        parent: 0,
        position: [0, 0, 0],
        rotation: [1, 0, 0, 0],
        motion: 'rotate',
        axis: [0, 1, 0],
        pitch: 0,
        q: 0,
      },
      { name: 'bob', parent: 1, position: [0, 0, -1], rotation: [1, 0, 0, 0] },
    ],
    bodies: [{ name: 'bob', frame: 2, mass: 2, com: [0, 0, -0.5] }],
    ropes: [
      {
        name: 'string',
        path: [
          { frame: 2, position: [0, 0, 0] },
          { frame: 0, position: [0, 0, 0] },
        ],
        length: 0,
        ratio: 1,
        q: 2,
        rigid: false,
      },
    ],
    springs: [],
    contacts: [],
    shapes: [],
  }
}

/** A piece with one such figure, or several, and a ghost of the first. */
export function piece(change: Partial<Piece> = {}): Piece {
  return {
    id: 'e0',
    title: 'Pendulum',
    about: '',
    live: false,
    front: null,
    scene: { name: 'stage', floor: 0, obstacles: [] },
    figures: [pendulum()],
    tracks: [
      { name: 'pendulum', ghost: false, figure: 0 },
      { name: 'reference', ghost: true, figure: 0 },
    ],
    series: [
      { name: 'kinetic energy', unit: 'J' },
      { name: 'constraint error', unit: 'mm' },
      { name: 'clearance', unit: 'm' },
    ],
    marks: [],
    blocks: [],
    ...change,
  }
}
