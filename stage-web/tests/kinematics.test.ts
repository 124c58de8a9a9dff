import { describe, expect, it } from 'vitest'
import {
  centreOfMass,
  compose,
  extent,
  hasMass,
  Kinematics,
  multiply,
  point,
  variablesAtLimits,
} from '../src/geometry/kinematics'
import type { Frame, Quat, Vec3 } from '../src/messages'
import { pendulum } from './toys'

function matrix(position: Vec3, rotation: Quat): Float64Array {
  const out = new Float64Array(16)
  compose(position, rotation, out)
  return out
}

function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(found.length).toBe(expected.length)
  for (let i = 0; i < expected.length; i++) expect(found[i]).toBeCloseTo(expected[i], 12)
}

/** The frames of a figure with a single frame, moved by a value. */
function moved(frame: Partial<Frame>, value: number): Float64Array {
  const figure = {
    ...pendulum(),
    frames: [{ name: 'one', parent: -1, position: [1, 2, 3], rotation: [1, 0, 0, 0], q: 0, ...frame } as Frame],
  }
  const X = new Float64Array(16)
  new Kinematics(figure).forward([value], X)
  return X
}

const half = Math.SQRT1_2 // cosine and sine of a quarter turn's half
const QUARTER_ABOUT_Z: Quat = [half, 0, 0, half]

describe('compose', () => {
  it('writes the columns of the rotation and the position', () => {
    expectClose(matrix([4, 5, 6], QUARTER_ABOUT_Z), [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 4, 5, 6, 1])
  })
})

describe('multiply', () => {
  it('applies the right factor first', () => {
    const out = new Float64Array(16)
    multiply(matrix([1, 0, 0], QUARTER_ABOUT_Z), 0, matrix([2, 0, 0], [1, 0, 0, 0]), 0, out, 0)
    expectClose(out.subarray(12, 15), [1, 2, 0]) // 2 along x, turned onto y, then 1 along x
  })

  it('gives the identity for a motion and its inverse', () => {
    const [w, x, y, z] = [0.5, 0.5, 0.5, 0.5]
    const inverse = matrix([-2, -3, -1], [w, -x, -y, -z]) // this rotation takes x to y to z to x
    const out = new Float64Array(16)
    multiply(matrix([1, 2, 3], [w, x, y, z]), 0, inverse, 0, out, 0)
    expectClose(out, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
  })
})

describe('forward kinematics', () => {
  it('turns about an axis', () => {
    const X = moved({ motion: 'rotate', axis: [0, 0, 1] }, Math.PI / 2)
    expectClose(point(X, { frame: 0, position: [1, 0, 0] }), [1, 3, 3])
  })

  it('slides along an axis', () => {
    const X = moved({ motion: 'translate', axis: [0, 1, 0] }, 0.25)
    expectClose(point(X, { frame: 0, position: [0, 0, 0] }), [1, 2.25, 3])
  })

  it('turns and slides by the pitch for a screw', () => {
    const X = moved({ motion: 'screw', axis: [0, 0, 1], pitch: 0.1 }, Math.PI / 2)
    expectClose(point(X, { frame: 0, position: [1, 0, 0] }), [1, 3, 3 + 0.05 * Math.PI])
  })

  it('carries children along', () => {
    const X = new Float64Array(48)
    new Kinematics(pendulum()).forward([Math.PI / 2, 0.5, 1], X)
    expectClose(point(X, { frame: 0, position: [0, 0, 0] }), [0.5, 0, 2])
    expectClose(point(X, { frame: 2, position: [0, 0, 0] }), [-0.5, 0, 2]) // −z, turned by a quarter about y
  })

  it('leaves points of the world where they are', () => {
    expectClose(point(new Float64Array(0), { frame: -1, position: [1, 2, 3] }), [1, 2, 3])
  })
})

describe('mass and size', () => {
  it('finds the centre of mass', () => {
    const figure = pendulum()
    figure.bodies.push({ name: 'counterweight', frame: 0, mass: 1, com: [0, 0, 1] })
    const X = new Float64Array(48)
    new Kinematics(figure).forward([0, 0.5, 1], X)
    expectClose(centreOfMass(figure, X) ?? [], [0.5, 0, (2 * 0.5 + 1 * 3) / 3])
  })

  it('has none where nothing has mass', () => {
    const figure = { ...pendulum(), bodies: [{ name: 'bob', frame: 2, mass: 0, com: [0, 0, 0] as Vec3 }] }
    expect(centreOfMass(figure, new Float64Array(48))).toBeNull()
    expect(hasMass(figure)).toBe(false)
    expect(hasMass(pendulum())).toBe(true)
  })

  it('measures a figure by its frames, and takes one metre for a single point', () => {
    expect(extent(pendulum())).toBeCloseTo(1, 12)
    expect(extent({ ...pendulum(), frames: [] })).toBe(1)
  })
})

describe('limits', () => {
  it('warns within a hundredth of the range, and beyond it', () => {
    expect(variablesAtLimits(pendulum(), [0.97, 0, 1])).toEqual([])
    expect(variablesAtLimits(pendulum(), [0.99, 0, 1])).toEqual([0])
    expect(variablesAtLimits(pendulum(), [-3, 0, 0.001])).toEqual([0, 2])
  })

  it('says nothing of a variable that cannot move', () => {
    const figure = pendulum()
    Object.assign(figure.variables[0], { lower: 0, upper: 0 })
    expect(variablesAtLimits(figure, [0, 0, 1])).toEqual([])
  })
})
